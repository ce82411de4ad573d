// Package report prints what the benchmark measured: as Markdown tables for people, as one JSON object a line for programs.
package report
