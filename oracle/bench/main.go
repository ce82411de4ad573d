// Bench compares what deed's operations cost with what they cost in the libraries that kube-apiserver uses. Both sides
// run in one process, in turn, on equal inputs, and have to come to equal results. Run it in the folder oracle:
//
//	go run ./bench                                  all rows, as Markdown tables
//	go run ./bench -quick                           in less than a minute, roughly
//	go run ./bench -row '^update/pod' -json         some rows, one JSON object a line
//	go run ./bench -into ../docs/benchmarks.md      all rows, as the tables of that page
//	go run ./bench -row apply/pod/2 -only deed -cpuprofile deed.prof
//
// It exits with 1 when a row misses its bar, see docs/benchmarks.md, and with 2 when something fails.
package main

import "os"

func main() { os.Exit(Run(os.Args[1:], os.Stdout, os.Stderr)) }
