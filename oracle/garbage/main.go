// Command garbage lets the garbage collector and the namespace controller of kube-controller-manager and those of a deed-apiserver work on the
// same objects, and compares what they leave:
//
//	go run ./garbage --real https://127.0.0.1:16443 --deed https://127.0.0.1:16543 --seed 1 --rounds 200
//
// The servers must be fresh, and their token is tok. Beside the kube-apiserver runs a kube-controller-manager with
// --controllers garbage-collector-controller,namespace-controller. The deed-apiserver has the same --controllers.
//
// A round makes objects in two namespaces and in none, which own each other: in chains, in circles, across namespaces, and by references with a
// wrong kind, name or UID. Some have finalizers. Then it deletes objects, collections and namespaces with all propagation policies, changes
// references and finalizers, and makes objects anew. Each step waits until both servers stand still.
//
// After each step the command compares the answers, and what is left: owner references, finalizers, whether an object is being deleted, its
// managed fields, and the conditions of namespaces. A round ends at its first difference, and is played again: chance is
// no difference. The command prints the differences with the steps before them, and exits with 1 if there is any. The same seed plays the
// same rounds.
package main

import (
	"flag"

	"github.com/deed-project/deed/oracle/pair"
)

func main() {
	c := campaign{}
	real, deed := pair.Flags(&c.seed)
	flag.IntVar(&c.rounds, "rounds", 200, "how many rounds are played")
	flag.IntVar(&c.workers, "workers", 8, "how many rounds are played at once")
	flag.IntVar(&c.only, "round", -1, "only this round, and print each of its steps")
	flag.Parse()
	c.real, c.deed = pair.NewServer(*real), pair.NewServer(*deed)
	differ, err := c.run()
	pair.Finish(differ, "rounds differ", err)
}
