package main

import (
	"errors"
	"fmt"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// apply prints what "ci" would have stored, or its conflicts. It is the sample of README.md.
func apply(live, config managedfields.Object) error { // from managedfields.ParseObject or ObjectFromAny
	endpoint, err := builtin.Config(schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"})
	if err != nil {
		return err
	}
	fm, err := managedfields.New(endpoint)
	if err != nil {
		return err
	}
	stored, err := fm.Apply(live, config, "ci", false)
	var conflicts merge.Conflicts
	if errors.As(err, &conflicts) {
		for _, c := range conflicts {
			fmt.Println(c.Owner.Manager, c.Path, c.Live, c.Wanted)
		}
	}
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", stored.AppendJSON(nil))
	return nil
}
