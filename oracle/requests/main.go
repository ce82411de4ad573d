// Command requests sends random requests to a kube-apiserver and a deed-apiserver, and compares what they answer:
//
//	go run ./requests --real https://127.0.0.1:16443 --deed https://127.0.0.1:16543 --seed 1 --requests 20000
//
// The servers must be fresh, and their token is tok. The requests come in rounds. A round makes a few objects of some built-in kinds in two
// namespaces, changes them while watches follow, sends its requests, and deletes the objects. So requests list and watch the past, too. Each request
// has a random method, path, query, headers and body. Most parts are right. So a request has one or two faults, or none: an unknown resource, an
// option that excludes another one, a body that is cut.
//
// The command compares the code, the headers and the body of the answers: objects, lists, Tables, events of a watch, or text. UIDs, times, resource
// versions and allocated addresses are masked, but each object in an answer must come from the same change on both sides. A request that changes
// nothing is sent again if its answers differ: chance is no difference. Protocol buffers and CBOR are compared as the JSON of what they hold.
//
// With --products, it sends no random requests but all combinations of a few tables: deletions with their options, patches with their faults,
// lists with their versions, and each member of metadata at each endpoint of each kind. These are dry runs, or read only.
//
// With --audit-real and --audit-deed, it compares the audit logs of the servers as well.
//
// Each difference is printed once, with its request. The command exits with 1 if there is any. The same seed sends the same requests.
package main

import (
	"flag"

	"github.com/deed-project/deed/oracle/pair"
)

func main() {
	c := campaign{}
	real, deed := pair.Flags(&c.seed)
	flag.IntVar(&c.requests, "requests", 20_000, "how many requests each server gets, at least")
	flag.BoolVar(&c.multiplies, "products", false, "in the place of random requests, each one of the products of paths, queries, bodies and media types")
	audits := pair.AuditFlags()
	flag.IntVar(&c.only, "round", -1, "only this round, and print each of its requests")
	flag.Parse()
	c.real, c.deed = newSide(*real), newSide(*deed)
	err := c.run()
	c.found, err = audits.Add(c.found, err)
	pair.Finish(c.found, "requests are answered differently", err)
}
