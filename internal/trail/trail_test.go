package trail

import "testing"

func TestPath(t *testing.T) {
	var trail Trail
	if path := trail.Path(); path != "" {
		t.Errorf("the root is at %q", path)
	}
	trail.Add("[2]")
	trail.Add(".ports")
	trail.Add(".spec")
	if path := trail.Path(); path != ".spec.ports[2]" {
		t.Errorf("the path is %q", path)
	}
}
