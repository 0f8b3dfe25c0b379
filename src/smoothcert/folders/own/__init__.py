"""Models of the user's own: ONNX files, and networks that a Python factory builds."""
