// Command writes sends random histories of writes to a kube-apiserver and a deed-apiserver, and compares what they answer and store:
//
//	go run ./writes --real https://127.0.0.1:16443 --deed https://127.0.0.1:16543 --seed 1 --requests 10000
//
// The servers must be fresh, and their token is tok. A history is about one object of a built-in kind. Three managers apply, create, update,
// patch and delete the object in each version that is served, and write its status and its other subresources. Its content comes from the
// objects of package pair. About every seventh write has something wrong in it. Some bodies and answers are protocol buffers.
//
// With --definitions, the histories are about random custom resources. Their definitions have all that schemas may have, and both servers must
// say the same of them, store the same and publish the same. With --changes, definitions get other schemas, versions and subresources
// between the writes of some histories. With --converters, webhooks convert between versions, and now and then in a wrong way.
//
// With --webhooks, random webhooks of the command decide about the writes of each kind. They patch, warn and refuse, and some of their
// answers are wrong. Both servers must call them with the same reviews. With --policies, random admission policies decide.
// With --guards, the namespaces have random Pod Security levels and LimitRanges. With --quotas, they have random ResourceQuotas, whose
// usages are compared, too. The servers must have the plugins for these. With --cbor, some bodies and answers are CBOR, which the servers must
// read: a kube-apiserver with --feature-gates CBORServingAndStorage=true, and a deed-apiserver with --cbor.
//
// After each write the command compares the code, the message with its details, the warnings, the object in the answer, the stored object, and
// whether its resource version moved. Now and then it also compares the object as a Table, or in a list,
// and the events of a watch. UIDs, times, resource versions and allocated addresses are masked. A history ends at its first
// difference, which the command prints. It exits with 1 if there is any. The same seed sends the same writes. Chance is no difference: a
// history that differs is played again, and a refused write is sent again to the real server, which may choose another one of several faults.
//
// With --predict deed, the command line gets each object as the real server has it, and predicts what comes of the next apply, create or update:
// the object with its managed fields and their times, and the warnings; or the conflicts; or why the object is refused, for which deed-validate
// has to lie beside deed. What only a server knows (docs/server-fields.md) is not compared. The command line does not know webhooks, policies,
// guards and changes of definitions, so that their flags exclude this one.
//
// With --kubectl kubectl, that program makes half of the writes, on both servers: it applies on the side of the client and of the server, replaces
// and creates. With --predict, deed predicts what comes of all requests of kubectl apply --server-side.
//
// With --audit-real and --audit-deed, it compares the audit logs of the servers as well.
//
// With --history, the command plays one history, such as Pod-17, and prints each of its writes.
package main

import (
	"errors"
	"flag"

	"github.com/deed-project/deed/oracle/pair"
)

func main() {
	c := campaign{}
	real, deed := pair.Flags(&c.seed)
	flag.IntVar(&c.requests, "requests", 10_000, "how many writes each server gets, at least")
	flag.IntVar(&c.workers, "workers", 3, "how many histories are played at once, each of another kind")
	flag.IntVar(&c.definitions, "definitions", 0, "play histories of so many random custom resources, in place of built-in kinds")
	flag.BoolVar(&c.changes, "changes", false, "with -definitions: change the definitions between the writes")
	flag.BoolVar(&c.guards, "guards", false, "give the namespaces random Pod Security levels and LimitRanges")
	flag.BoolVar(&c.cbor, "cbor", false, "let some bodies and answers be CBOR")
	flag.BoolVar(&c.quotas, "quotas", false, "give the namespaces random ResourceQuotas")
	flag.BoolVar(&c.policies, "policies", false, "let random admission policies decide about the writes")
	conversions := flag.Bool("converters", false, "with -definitions: let webhooks convert the objects of definitions with two versions")
	webhooks := flag.Bool("webhooks", false, "let webhooks decide about the writes, and compare how they are called")
	flag.StringVar(&c.kinds, "kinds", "", "only kinds with these names, separated by commas")
	flag.StringVar(&c.history, "history", "", "only this history")
	program := flag.String("kubectl", "", "the program kubectl, which then makes half of the writes")
	predict := flag.String("predict", "", "the program deed, which predicts writes to the real server")
	audits := pair.AuditFlags()
	flag.Parse()
	c.real, c.deed = pair.NewServer(*real), pair.NewServer(*deed)
	if *webhooks {
		c.hooks = newHooks()
		defer c.hooks.Close()
	}
	if *conversions {
		c.converters = newConverters()
		defer c.converters.Close()
	}
	if *program != "" {
		var err error
		if c.kubectl, err = newKubectl(*program, c.real, c.deed); err != nil {
			pair.Finish(0, "", err)
		}
		defer c.kubectl.close()
	}
	if *predict != "" {
		var err error
		if *webhooks || *conversions || c.changes || c.guards || c.quotas || c.policies {
			pair.Finish(0, "", errors.New("--predict excludes what the command line does not know"))
		}
		if c.predictor, err = newPredictor(*predict, "../docs/server-fields.md"); err != nil {
			pair.Finish(0, "", err)
		}
		defer c.predictor.close()
	}
	differ, err := c.run()
	differ, err = audits.Add(differ, err)
	pair.Finish(differ, "histories or events differ", err)
}
