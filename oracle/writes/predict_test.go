package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/oracle/pair"
)

// TestPredict compares outcomes with what a program prints and how it exits.
func TestPredict(t *testing.T) {
	h := newHistory(claim(t), 1, 2)
	object := func(count int, uid string) map[string]any {
		return map[string]any{
			"apiVersion": "example.org/v1", "kind": "Claim",
			"metadata": map[string]any{"name": h.name, "namespace": h.kind.namespace, "uid": uid}, "spec": map[string]any{"count": count},
		}
	}
	apply := pair.Request{Method: http.MethodPatch, Path: "/claims/x?fieldManager=alice", ContentType: applyPatch, Body: object(2, "")}
	stored := outcome{op: "apply", request: apply, before: object(1, "u"), after: object(2, "u"), answer: pair.Answer{Code: 200}}
	refused := stored
	refused.answer = pair.Answer{Code: 422, Message: "no"}
	conflict := stored
	conflict.answer = pair.Answer{Code: 409, Message: "Apply failed with 1 conflict: conflict with \"bob\": .spec.count"}
	patched := stored
	patched.op, patched.request.ContentType = "merge patch", mergePatch
	elsewhere := stored
	elsewhere.request.Body = with(object(2, ""), "elsewhere", "metadata", "namespace")
	for _, test := range []struct {
		name     string
		o        outcome
		code     int
		out      string
		want     string // of the first difference
		compared int
	}{
		{"equal but for the uid", stored, 0, pair.Text(object(2, "other")), "", 1},
		{"another generation of another value", stored, 0, pair.Text(with(object(3, "u"), 7, "metadata", "generation")), "predicted: Claim.spec.count: 2 there, 3 here", 1},
		{"another generation", stored, 0, pair.Text(with(object(2, "u"), 7, "metadata", "generation")), "predicted: Claim.metadata.generation: absent there, 7 here", 1},
		{"another value", stored, 0, pair.Text(object(3, "u")), "predicted: Claim.spec.count: 2 there, 3 here", 1},
		{"refused here alone", stored, 1, "", "predicted: 200 there, refused here: said\n", 1},
		{"not done here", stored, 2, "", "predicted: exit code 2: said\n", 1},
		{"refused there alone", refused, 0, pair.Text(object(2, "u")), "", 1},
		{"the same conflict", conflict, 1, pair.Text(map[string]any{"message": conflict.answer.Message}), "", 1},
		{"no conflict here", conflict, 0, pair.Text(object(2, "u")), "predicted: " + conflict.answer.Message + " there, said\n here", 1},
		{"a patch", patched, 0, "", "", 0},
		{"another namespace", elsewhere, 0, "", "", 0},
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "deed")
		script := fmt.Sprintf("#!/bin/sh\nset -e\ncat >/dev/null\ncat <<'END'\n%s\nEND\necho said >&2\nexit %d\n", test.out, test.code)
		if test.out == "" {
			script = fmt.Sprintf("#!/bin/sh\ncat >/dev/null\necho said >&2\nexit %d\n", test.code)
		}
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		p, err := newPredictor(program, "../../docs/server-fields.md")
		if err != nil {
			t.Fatal(err)
		}
		differences, err := p.compare(h, test.o)
		p.close()
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := strings.Join(differences, "; "); got != test.want || p.compared != test.compared {
			t.Errorf("%s: %q after %d comparisons, want %q", test.name, got, p.compared, test.want)
		}
	}
}

// TestReasonsIn checks which messages of the command line are about the validation.
func TestReasonsIn(t *testing.T) {
	said := "-:1:1: Claim n/a: refused: .spec.count: Invalid value: 0: must be one: or two (the server's validation refuses this, not its merging)\n" +
		"-:1:2: Claim n/a: refused: .spec.name: Required value (the server's validation refuses this, not its merging)\n" +
		"-:1:3: Claim n/a: .spec.more: field not declared in schema\n"
	want := []string{"Invalid value: 0: must be one: or two", "Required value"}
	if got := reasonsIn(said); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
