"""What a run reports: one ordered map of test id to outcome, whatever the runner."""
