package builtin

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/builtin.md anew")

const page = "../../docs/builtin.md"

// docs/builtin.md has a row for each kind, which says what deed knows of it and how that is checked. The section about rules is made by the
// test of server/kinds.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), "## Kinds\n")
	if !ok {
		t.Fatalf("%s has no section Kinds", page)
	}
	_, rules, _ := strings.Cut(string(text), "\n## Rules\n")
	want := head + "## Kinds\n\n" + kindTable(t) + "\n## Versions that are not served\n\n" + unservedTable() + "\n## Rules\n" + rules
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s is stale: run this test with -update", page)
	}
}

// kindTable has a row for each kind that servers store, with its versions together.
func kindTable(t *testing.T) string {
	played := recordedKinds(t)
	var b strings.Builder
	b.WriteString("| kind | versions | scope | subresources | defaults | conversion | checked |\n|---|---|---|---|---|---|---|\n")
	var last string
	for k := range Kinds() {
		name := strings.TrimPrefix(k.GVK.Group+" ", " ") + k.GVK.Kind
		if k.Served == NotServed || !slices.Contains(k.Verbs, "get") || name == last {
			continue
		}
		last = name
		checked := "scheme"
		if played[k.GVK.Kind] {
			checked = "scheme, server"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", name, versionsOf(k), scopeOf(k), subresourcesOf(k),
			defaultsOf(k), conversionOf(k), checked)
	}
	return b.String()
}

// recordedKinds are the kinds of the recordings in testdata.
func recordedKinds(t *testing.T) map[string]bool {
	kinds := map[string]bool{}
	for _, kind := range recordedKindNames(t) {
		kinds[kind] = true
	}
	return kinds
}

func versionsOf(k *Kind) string {
	var out []string
	for _, sibling := range Siblings(k.GVK) {
		switch {
		case sibling.GVK.Group != k.GVK.Group:
		case sibling.Served == ServedByDefault:
			out = append(out, sibling.GVK.Version)
		case sibling.Served == ServedOnRequest:
			out = append(out, sibling.GVK.Version+" (on request)")
		}
	}
	return strings.Join(out, ", ")
}

func scopeOf(k *Kind) string {
	if k.Namespaced {
		return "namespace"
	}
	return "cluster"
}

func subresourcesOf(k *Kind) string {
	var out []string
	for _, s := range k.Subresources {
		out = append(out, s.Name)
	}
	return strings.Join(out, ", ")
}

// defaultsOf counts the rules that values of the kind may follow.
func defaultsOf(k *Kind) string {
	n := forms().Rules(k.form)
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func conversionOf(k *Kind) string {
	different, served := false, 0
	for _, sibling := range Siblings(k.GVK) {
		if sibling.Served != NotServed {
			served++
			different = different || conversions[sibling.GVK].toCommon != nil
		}
	}
	switch {
	case different:
		return "different fields"
	case served > 1:
		return "same fields"
	}
	return ""
}

func unservedTable() string {
	var b strings.Builder
	b.WriteString("| version | not served since | use instead |\n|---|---|---|\n")
	for k := range Kinds() {
		if k.Served == NotServed && k.Removed != "" {
			fmt.Fprintf(&b, "| %s %s | %s | %s |\n", k.GVK.APIVersion(), k.GVK.Kind, k.Removed, k.Replacement)
		}
	}
	return b.String()
}

// Every kind that is not served has an error that says so, and nothing else has.
func TestUnserved(t *testing.T) {
	for k := range Kinds() {
		_, err := Config(k.GVK)
		if (err != nil) != (k.Served == NotServed) {
			t.Errorf("%v: %v", k.GVK, err)
		}
	}
	for _, test := range []struct{ group, version, kind, want string }{
		{"extensions", "v1beta1", "Ingress",
			"extensions/v1beta1 Ingress is not served since Kubernetes v1.22: use networking.k8s.io/v1 Ingress"},
		{"apps", "v1beta1", "Deployment", "apps/v1beta1 Deployment is not served since Kubernetes v1.16: use apps/v1 Deployment"},
		{"batch", "v1beta1", "CronJob", "batch/v1beta1 CronJob is not served since Kubernetes v1.25: use batch/v1 CronJob"},
		{"networking.k8s.io", "v1beta1", "IngressClass", // of which Kubernetes says IngressClassList
			"networking.k8s.io/v1beta1 IngressClass is not served since Kubernetes v1.22: use networking.k8s.io/v1 IngressClass"},
		{"apps", "v1beta2", "Scale", "apps/v1beta2 Scale is not served since Kubernetes v1.16: use autoscaling/v1 Scale"},
		{"scheduling.k8s.io", "v1beta1", "PodGroup", "scheduling.k8s.io/v1beta1 PodGroup is not served by Kubernetes v1.37"},
		{"example.org", "v1", "Widget", "example.org/v1 Widget is not served by Kubernetes v1.37"},
	} {
		if _, err := Config(gvk(test.group, test.version, test.kind)); err == nil || err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}

// Nothing is said of releases that are not out, and what is to be used instead is served.
func TestReplacements(t *testing.T) {
	minor := func(release string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(release, "v1."))
		if err != nil {
			t.Error(err)
		}
		return n
	}
	served, removed := map[string]bool{}, 0
	for k := range Kinds() {
		served[k.GVK.APIVersion()+" "+k.GVK.Kind] = k.Served != NotServed
	}
	for k := range Kinds() {
		for _, s := range k.Subresources {
			served[s.GVK.APIVersion()+" "+s.GVK.Kind] = true
		}
	}
	for k := range Kinds() {
		if k.Replacement != "" && !served[k.Replacement] {
			t.Errorf("%v is replaced by %s, which is not served", k.GVK, k.Replacement)
		}
		if k.Removed == "" {
			continue
		}
		if removed++; minor(k.Removed) > minor(release) {
			t.Errorf("%v is removed in %s, and %s is the last release that is known", k.GVK, k.Removed, release)
		}
	}
	if removed < 50 {
		t.Errorf("only %d versions are removed", removed)
	}
}
