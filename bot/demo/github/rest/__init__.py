"""The REST API: one module of routes a subject, behind one door."""
