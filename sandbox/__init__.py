"""The walls: run code that nobody trusts. A source tree and a plan go in, a test report comes out."""
