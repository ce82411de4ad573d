// Bench compares the cost of deed's operations with that of the libraries in kube-apiserver. Both sides of a row run alternately in one
// process, on equal inputs, and must produce equal results. Each row has a process of its own. Run it in the directory oracle:
//
//	go run ./bench                                  all rows, as Markdown tables
//	go run ./bench -quick                           in less than a minute, roughly
//	go run ./bench -row '^update/pod' -json         some rows, one JSON object a line
//	go run ./bench -into ../docs/benchmarks.md      all rows, as the tables of that page
//	go run ./bench -row apply/pod/2 -only deed -cpuprofile deed.prof
//
// It exits with 1 if a row misses its bar, see docs/benchmarks.md, and with 2 if an operation fails.
package main

import "os"

func main() { os.Exit(Run(os.Args[1:], os.Stdout, os.Stderr)) }
