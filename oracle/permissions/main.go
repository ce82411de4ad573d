// Command permissions sends random requests of users with random roles to a kube-apiserver and a deed-apiserver, and compares what they answer:
//
//	go run ./permissions --real https://127.0.0.1:16443 --deed https://127.0.0.1:16543 --seed 1 --requests 20000
//
// Both servers run with --authorization-mode RBAC, and must be fresh. Their file of tokens has tok, of a user in the group system:masters, and
// tok-0 and tok-1, of the users u-0 and u-1, who are in the group g-0:
//
//	tok,admin,1,system:masters
//	tok-0,u-0,2,g-0
//	tok-1,u-1,3,g-0
//
// The requests come in rounds. A round makes random roles and bindings, sends its requests, and deletes them. A request is a read, a write, a
// path that is no resource, a review of permissions, or a write of a role or a binding, which may escalate the rights of its user. All writes are dry runs.
// Their users are those of the tokens, or users that they impersonate.
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
	flag.IntVar(&c.only, "round", -1, "only this round, and print each of its requests")
	flag.Parse()
	c.real, c.deed = pair.NewServer(*real), pair.NewServer(*deed)
	err := c.run()
	pair.Finish(c.found, "requests are answered differently", err)
}
