"""The mind: what an event asks for, which runs give the evidence, what the verdict is, what to say."""
