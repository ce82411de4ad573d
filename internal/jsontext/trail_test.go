package jsontext

import "testing"

func TestTrail(t *testing.T) {
	var steps Trail
	if path := steps.Path(); path != "" {
		t.Errorf("the root is at %q", path)
	}
	steps.Add("[2]")
	steps.Add(".ports")
	steps.Add(".spec")
	if path := steps.Path(); path != ".spec.ports[2]" {
		t.Errorf("the path is %q", path)
	}
}
