package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestChosenControllers reads lists of controllers as kube-controller-manager does: the first mention of a controller counts.
func TestChosenControllers(t *testing.T) {
	const gc, ns = "garbage-collector-controller", "namespace-controller"
	for list, want := range map[string][]string{
		"none":                     {ns},
		"":                         nil,
		"*":                        Controllers(),
		gc:                         {gc},
		"garbagecollector":         {gc},
		"gc,namespace":             {gc, ns},
		"-namespace":               nil,
		"namespace,-namespace":     {ns},
		"-" + ns + ",namespace,gc": {gc},
	} {
		var names []string
		switch {
		case list == "none":
		case list == "":
			names = []string{}
		default:
			names = strings.Split(list, ",")
		}
		chosen, err := chosenControllers(names)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range Controllers() {
			if chosen[c] {
				got = append(got, c)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q chooses %v, want %v", list, got, want)
		}
	}
	chosen, err := chosenControllers([]string{"*", "-gc"})
	if err != nil || chosen[gc] || !chosen[ns] {
		t.Errorf("all but %s are %v (error %v)", gc, chosen, err)
	}
	for _, name := range []string{"deployment", "-daemonset", ""} {
		_, err := chosenControllers([]string{name})
		want := fmt.Sprintf("%q is not in the list of known controllers", strings.TrimPrefix(name, "-"))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
