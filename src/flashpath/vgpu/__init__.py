"""The virtual GPU. Importing it is cheap: the compiled engine is loaded when first needed."""
