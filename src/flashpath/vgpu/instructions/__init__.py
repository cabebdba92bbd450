"""The instructions that the virtual GPU knows and refuses, as a table for docs/vgpu.md.

python -m flashpath.vgpu.instructions docs/vgpu.md

    known.py     what the engine says it knows, summed up by class
    refused.py   instructions that it is asked about one by one, and what it answers
    document.py  both as a section of a document
"""
