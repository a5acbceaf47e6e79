"""npm packages: JavaScript and TypeScript under Node, by the test runner that a repository has chosen."""
