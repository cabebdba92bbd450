"""c = a + b, element by element: the first ladder."""
