package write_test

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
)

// TestFaultless applies the same again: nothing is wrong with an object that was valid when it was written. Once its definition says more, it
// is not any more, and the client is warned.
func TestFaultless(t *testing.T) {
	s := servertest.Widgets(t)
	const applied = `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"one"},"spec":{"replicas":8}}`
	apply := func(body string) (code int, warnings string) {
		w := servertest.Ask(s, "PATCH "+servertest.Things+"/one?fieldManager=a Content-Type=application/apply-patch+yaml", body)
		return w.Code, strings.Join(w.Header().Values("Warning"), " ")
	}
	for i, want := range []int{201, 200, 200} {
		if code, warnings := apply(applied); code != want || warnings != "" {
			t.Fatalf("apply %d: %d %s, want %d", i, code, warnings, want)
		}
	}
	const rule = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations/0/rule"
	path := "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org"
	patch := `[{"op":"replace","path":"` + rule + `","value":"self.replicas <= 5"}]`
	if w := servertest.Ask(s, "PATCH "+path+" Content-Type=application/json-patch+json", patch); w.Code != 200 {
		t.Fatal(w.Body)
	}
	for range 2 {
		if code, warnings := apply(applied); code != 200 || !strings.Contains(warnings, "at most ten replicas") {
			t.Errorf("under the new definition: %d %q", code, warnings)
		}
	}
	if code, _ := apply(strings.Replace(applied, "8", "9", 1)); code != 422 {
		t.Errorf("a change to another wrong value: %d", code)
	}
	if code, warnings := apply(strings.Replace(applied, "8", "3", 1)); code != 200 || warnings != "" {
		t.Errorf("a change to a right value: %d %s", code, warnings)
	}
}
