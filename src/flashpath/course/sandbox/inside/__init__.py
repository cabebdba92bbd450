"""What runs inside a child process. Only `kernel_worker` may import flashpath: the others run next to what a
learner wrote, and know nothing of the package."""
