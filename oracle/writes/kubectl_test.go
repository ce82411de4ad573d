package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/oracle/pair"
)

// TestKubectl has a program in kubectl's place say and do several things.
func TestKubectl(t *testing.T) {
	program := filepath.Join(t.TempDir(), "kubectl")
	real, deed := pair.NewServer("https://127.0.0.1:1"), pair.NewServer("https://127.0.0.1:2")
	for _, test := range []struct {
		script string
		want   pair.Answer
	}{
		{"true", pair.Answer{Code: 200}},
		{`grep -q '^{"a":1}$' && echo "$@" >&2`, pair.Answer{Code: 200, Message: "apply --server-side -f -\n"}},
		{`grep -o "https://[^\"]*" "$KUBECONFIG" >&2; test -d "$HOME"`, pair.Answer{Code: 200, Message: "https://127.0.0.1:2\n"}},
		{`printf 'Warning: this server stores it\nno\n' >&2; exit 1`, pair.Answer{Code: 400, Message: "no\n"}},
		{
			`printf 'error: Apply failed with 1 conflict: conflict with "x": .a\nPlease review the fields above\n' >&2; exit 1`,
			pair.Answer{Code: 400, Reason: "Conflict", Message: `Apply failed with 1 conflict: conflict with "x": .a`},
		},
	} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+test.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		k, err := newKubectl(program, real, deed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.send(deed, pair.Request{Method: byKubectl, Path: "apply --server-side", Body: map[string]any{"a": 1}})
		k.close()
		if err != nil || pair.Text(got) != pair.Text(test.want) {
			t.Errorf("%s: %v, %v, want %v", test.script, got, err, test.want)
		}
	}
}

// TestCommands checks that all writes of kubectl are made, and that deed predicts those that it has.
func TestCommands(t *testing.T) {
	h := newHistory(claim(t), 1, 2)
	var p predictor
	seen := map[string]int{}
	for seed := range uint64(400) {
		w := writer{Rand: rand.New(rand.NewPCG(seed, 1)), history: h, group: h.kind.versions[0]}
		if seed%2 == 0 {
			w.live = w.named(map[string]any{"spec": map[string]any{"name": "a"}})
		}
		op, q := w.command()
		seen[op]++
		args := p.command(outcome{op: op, request: q, before: w.live, after: w.live, answer: pair.Answer{Code: 200}}, h.kind.namespace)
		want := ""
		switch {
		case strings.Contains(q.Path, "--server-side"):
			want = "apply --server-side"
		case strings.Contains(q.Path, "--save-config=false") && pair.Get(q.Body, "metadata", "annotations", record) == nil:
			want = "update"
		}
		if got := strings.Join(args, " "); !strings.HasPrefix(got, want) || want == "" && args != nil {
			t.Errorf("%s becomes %s", q.Path, got)
		}
	}
	for _, op := range []string{"kubectl apply", "kubectl apply --server-side", "kubectl create", "kubectl replace"} {
		if seen[op] < 10 {
			t.Errorf("%s: %d times", op, seen[op])
		}
	}
}
