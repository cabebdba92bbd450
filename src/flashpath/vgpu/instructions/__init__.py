"""The instructions that the virtual GPU knows and refuses, as a table for docs/vgpu.md and docs/vgpu.zh.md.

python -m flashpath.vgpu.instructions docs/vgpu.md docs/vgpu.zh.md

    known.py     what the engine says it knows, summed up by class
    refused.py   instructions that it is asked about one by one, and what it answers
    document.py  both as a section of a document
"""
