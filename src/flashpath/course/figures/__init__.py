"""The lessons' figures, made by code: in `units/` one module for each unit, one function for each figure.

A function returns `(svg, text)`: the drawing, and the same in characters for the terminal. With a parameter
`lang` it is called once for each language. `drawing.Picture` makes both at once.
"""
