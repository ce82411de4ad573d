// Command faults looks for wrong objects that a kube-apiserver and a deed-apiserver answer differently. It takes each field of each
// stored built-in kind through the values that may be wrong with it, alone and in pairs, and sends each request to both servers:
//
//	go run ./faults --real https://127.0.0.1:16443 --deed https://127.0.0.1:16543 --seed 1 --requests 100000
//
// The servers must be fresh, or have the objects of an earlier run, and their token is tok. A difference has a class: kind, verb, field, reason and
// the side that refuses. The command prints each class with its count and one example, and exits with 1 if there are any. The same seed sends the
// same requests.
//
// With --again, the command sends the requests of a file that --findings wrote, and no others.
//
// With --value, the command puts one value into each field of its type, alone: null, "", [], {}, 0, -1 and so on. A text is also a key of each
// map. The text "\u0001<é" tells whether a refusal shows a Go string or JSON.
//
// A difference that is gone when both servers are asked again, because the real one answers by chance, is only counted. So are requests on
// which the real server panics: it closes the connection.
//
// With --record, the command writes one request of each class of refusals that both servers agree on. TestFaults of package server
// replays the file. With --again too, the file has the differences that are mended: so are those of servers that emulate a release recorded.
package main

import (
	"flag"

	"github.com/deed-project/deed/oracle/pair"
)

func main() {
	c := campaign{}
	real, deed := pair.Flags(&c.seed)
	flag.IntVar(&c.requests, "requests", 100_000, "how many requests each server gets")
	flag.IntVar(&c.workers, "workers", 6, "how many requests are in flight")
	flag.StringVar(&c.kinds, "kinds", "", "only kinds with these names, separated by commas")
	flag.StringVar(&c.findings, "findings", "", "file for all differences, one JSON document a line")
	flag.StringVar(&c.again, "again", "", "file of differences whose requests are sent again, in the place of those of a seed")
	flag.StringVar(&c.value, "value", "", "a value in JSON, for each field of its type in the place of random requests")
	flag.StringVar(&c.record, "record", "", "file for a request of each class that both servers refuse alike")
	bases := flag.Bool("bases", false, "only install the base objects, and compare the answers")
	flag.Parse()
	c.real, c.deed = newPeer(*real), newPeer(*deed)
	found, err := c.run(*bases)
	pair.Finish(found, "classes of differences", err)
}
