"""One package a toolchain: reads a tree nobody prepared and says how it is set up and tested."""
