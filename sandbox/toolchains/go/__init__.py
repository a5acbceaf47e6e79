"""Go modules, tested by `go test`."""
