// Package samples holds the samples of docs/testing.md as tests, in the project that they stand in: its definitions and the
// configurations of its webhooks are in config, as controller-gen makes them.
package samples
