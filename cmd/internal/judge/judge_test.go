package judge_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/checks"
	"github.com/deed-project/deed/cmd/internal/cli"
	"github.com/deed-project/deed/cmd/internal/judge"
	"github.com/deed-project/deed/value"
)

// recordings are the answers of a kube-apiserver to wrong objects: see TestFaults of package server.
const recordings = "../../../server/testdata/faults.jsonl.gz"

// fault is a create of the recordings.
type fault struct {
	object value.Value
	answer value.Value
}

// TestFaults validates the new objects of the recordings as manifests. Each object that kube-apiserver refuses is invalid, with its texts and no
// others, and each object that it takes is valid.
func TestFaults(t *testing.T) {
	all, definitions := faults(t)
	if len(all) < 800 {
		t.Fatalf("only %d objects", len(all))
	}
	if testing.Short() {
		var few []fault
		for i := 0; i < len(all); i += 8 {
			few = append(few, all[i])
		}
		all = few
	}
	var text, crds bytes.Buffer
	for _, f := range all {
		fmt.Fprintf(&text, "---\n%s\n", f.object.String())
	}
	for _, d := range definitions {
		fmt.Fprintf(&crds, "---\n%s\n", d)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"objects.yaml": text.Bytes(), "crds.yaml": crds.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	cli.RunWith(cli.Full{NewServer: judge.New, Checks: checks.Local{}}, []string{"validate", "-f", filepath.Join(dir, "objects.yaml"), "--crd", filepath.Join(dir, "crds.yaml"),
		"--validate=ignore", "--show-secrets", "-o", "json"}, strings.NewReader(""), &out, &errs)
	var report struct {
		Findings []struct {
			Line          int
			Detail, Class string
		}
		Notices []struct {
			Line int
			Text string
		}
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	found := map[int][]string{}
	for _, x := range report.Findings {
		found[x.Line] = append(found[x.Line], x.Detail)
	}
	unread := map[int]string{}
	for _, x := range report.Notices {
		unread[x.Line] += x.Text
	}
	missed := 0
	for i, f := range all {
		line := 2*i + 2
		if unread[line] != "" {
			continue
		}
		if fault := compare(f, found[line]); fault != "" {
			if missed++; missed < 30 {
				t.Errorf("%.600s\n%.900s", f.object.String(), fault)
			}
		}
	}
	if missed > 0 {
		t.Errorf("%d of %d objects differ", missed, len(all))
	}
}

// uid matches the UID of an object.
var uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// compare says how the details of findings differ from an answer.
func compare(f fault, details []string) string {
	code := f.answer.Get("code").Int()
	if code < 300 {
		details = slices.DeleteFunc(details, func(d string) bool { return strings.Contains(d, "associative list") }) // see below
		if len(details) > 0 {
			return fmt.Sprintf("kube-apiserver takes it, and deed finds %q", details)
		}
		return ""
	}
	for i := range details {
		details[i] = uid.ReplaceAllString(details[i], "UID") // as in the recordings
	}
	if len(details) == 0 {
		return fmt.Sprintf("kube-apiserver refuses it: %s", f.answer.String())
	}
	if code != 422 {
		return ""
	}
	var messages []string
	for cause := range f.answer.Get("details", "causes").Items() {
		messages = append(messages, cause.Get("message").Str())
	}
	for _, m := range messages {
		if !slices.ContainsFunc(details, func(d string) bool { return strings.Contains(d, m) }) {
			return fmt.Sprintf("not found: %q\nfound: %q", m, details)
		}
	}
	for _, d := range details {
		if strings.Contains(d, "associative list") { // an apply refuses the object before it is validated, and a create does not
			continue
		}
		if !slices.ContainsFunc(messages, func(m string) bool { return strings.Contains(d, m) }) {
			return fmt.Sprintf("invented: %q\nmessages: %q", d, messages)
		}
	}
	return ""
}

// faults returns the creates of the recordings, and the definitions among the valid objects.
func faults(t *testing.T) (all []fault, definitions []string) {
	t.Helper()
	file, err := os.Open(recordings)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() // it is only read
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	bases := map[string]value.Value{}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line, err := value.Parse(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if b := line.Get("base"); !b.IsAbsent() {
			bases[b.Get("id").Str()] = b
			if b.Get("object", "kind").Str() == "CustomResourceDefinition" {
				definitions = append(definitions, b.Get("object").String())
			}
			continue
		}
		if object, ok := created(bases, line.Get("request")); ok {
			all = append(all, fault{object, line.Get("answer")})
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all, definitions
}

// created returns the object of a request as package server sends it. It returns false for other requests, and for edits of what only servers
// write, which a manifest does not have.
func created(bases map[string]value.Value, request value.Value) (value.Value, bool) {
	if request.Get("verb").Str() != "create" {
		return value.Value{}, false
	}
	b := bases[request.Get("base").Str()]
	object := merged(b.Get("object"), b.Get("create"))
	if b.Get("create", "metadata", "name").IsAbsent() {
		metadata := object.Get("metadata")
		object = object.With("metadata", metadata.With("name", value.String(metadata.Get("name").Str()+"-new")))
	}
	for e := range request.Get("edits").Items() {
		path := e.Get("path")
		if root := path.Item(0).Str(); root != "spec" && root != "data" && root != "rules" && root != "metadata" || root == "metadata" && path.Item(1).Str() != "labels" {
			return value.Value{}, false
		}
		v := e.Get("value")
		switch {
		case e.Get("remove").Bool():
			v = value.Value{}
		case v.IsAbsent():
			v = value.Null()
		}
		object = edited(object, path, 0, v)
	}
	return object, true
}

// merged returns an object with the members of another one.
func merged(object, with value.Value) value.Value {
	for name, v := range with.Members() {
		if v.Kind() == value.KindObject {
			v = merged(object.Get(name), v)
		}
		object = member(object, name, v)
	}
	return object
}

func member(object value.Value, name string, v value.Value) value.Value {
	if object.Kind() != value.KindObject {
		object = value.Object()
	}
	return object.With(name, v)
}

// edited returns v with another value at a path, from step i on. An absent value removes what is there.
func edited(v, path value.Value, i int, to value.Value) value.Value {
	if i == path.Len() {
		return to
	}
	step := path.Item(i)
	if step.Kind() == value.KindString {
		return member(v, step.Str(), edited(v.Get(step.Str()), path, i+1, to))
	}
	var items []value.Value
	n := int(step.Int())
	for j := range v.Len() {
		item := v.Item(j)
		if j == n {
			if item = edited(item, path, i+1, to); item.IsAbsent() {
				continue
			}
		}
		items = append(items, item)
	}
	if n >= v.Len() {
		items = append(items, edited(value.Value{}, path, i+1, to))
	}
	return value.List(items...)
}

// TestFamilies validates Services of both families of addresses. Only a cluster knows which of them it has, so that none is refused.
func TestFamilies(t *testing.T) {
	const services = `
{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ipFamilies: [IPv6], ports: [{port: 1}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: b}, spec: {ipFamilyPolicy: RequireDualStack, ports: [{port: 1}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: c}, spec: {clusterIP: "fd00::1", ports: [{port: 1}]}}
`
	var out, errs bytes.Buffer
	code := cli.RunWith(cli.Full{NewServer: judge.New, Checks: checks.Local{}}, []string{"validate"}, strings.NewReader(services), &out, &errs)
	if code != 0 || !strings.Contains(out.String(), "3 valid") {
		t.Errorf("exit code %d\n%s%s", code, &out, &errs)
	}
}
