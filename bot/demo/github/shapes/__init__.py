"""JSON as GitHub writes it: one module a subject, one function a schema of its description."""
