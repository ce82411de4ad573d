package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestKubectlRuns checks that kubectl accepts the commands that deed prints and names. It runs the output of -o kubectl unchanged against a
// server, and each kubectl line of the help.
func TestKubectlRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a server is built and started")
	}
	k := newKubectl(t)
	k.write("crd.yaml", kubectlDefinition)
	k.write("web.yaml", kubectlObjects+largeMap(3000))
	k.write("cart.yaml", strings.ReplaceAll(kubectlObjects, "name: web", "name: cart"))
	k.sh("cp web.yaml other.yaml; mkdir deploy; cp web.yaml deploy")
	k.sh("kubectl apply -f crd.yaml && kubectl wait --for=condition=Established crd/events.example.com && kubectl apply -f web.yaml -f cart.yaml")
	k.sh("kubectl get -f web.yaml -o yaml --show-managed-fields > live.yaml")

	script := k.deed("migrate", "--live", "live.yaml", "--crd", "crd.yaml", "--field-manager", "it's ci", "-o", "kubectl")
	if n := strings.Count(script, "kubectl patch "); n != 4 || !strings.Contains(script, "<<'PATCH'") {
		t.Fatalf("of 4 objects, one of them large, there are %d commands:\n%.2000s", n, script)
	}
	if out := k.sh(script); strings.Count(out, " patched\n") != 4 {
		t.Errorf("kubectl prints\n%s", out)
	}
	if _, err := k.try(script); err == nil {
		t.Error("a patch is taken although the object has changed since")
	}
	k.sh("kubectl get -f web.yaml -o yaml --show-managed-fields > live.yaml")
	if out := k.deed("migrate", "--live", "live.yaml", "--crd", "crd.yaml"); strings.Count(out, "nothing to migrate") != 4 {
		t.Errorf("after the migration:\n%s", out)
	}
	script = k.deed("transfer", "event.example.com/boom", "--live", "live.yaml", "--crd", "crd.yaml", "--from", "it's ci", "--to", "flux", "-o", "kubectl")
	if out := k.sh(script); out != "event.example.com/boom patched\n" {
		t.Errorf("kubectl prints\n%s", out)
	}

	k.sh("kubectl get deployment cart -o yaml --show-managed-fields > cart-live.yaml")
	k.write("patch.json", k.deed("migrate", "deployment/cart", "--live", "cart-live.yaml", "-o", "patch"))
	ran := 0
	eachCommand(newCLI(nil, nil, nil).rootCommand(), func(cmd *cobra.Command) {
		for _, line := range kubectlLine.FindAllString(cmd.Example, -1) {
			line, _, _ = strings.Cut(line, " | ")
			if out, err := k.try(strings.TrimSpace(line)); err != nil {
				t.Errorf("deed help %s: %s: %v\n%s", cmd.Name(), line, err, out)
			}
			ran++
		}
	})
	if ran < 5 {
		t.Errorf("the help has only %d lines for kubectl", ran)
	}
}

// kubectlLine matches a line of a help that begins with kubectl.
var kubectlLine = regexp.MustCompile(`(?m)^ +kubectl .*`)

// kubectl runs commands in a directory, against its own server.
type kubectl struct {
	*testing.T
	dir string
}

// newKubectl starts deed-apiserver, which is in the same checkout.
func newKubectl(t *testing.T) kubectl {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skipf("without kubectl: %v", err)
	}
	k := kubectl{t, t.TempDir()}
	server := filepath.Join(k.dir, "deed-apiserver")
	build := exec.Command("go", "build", "-o", server, "github.com/deed-project/deed/server/cmd/deed-apiserver")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("without the server's module beside this one: %v\n%s", err, out)
	}
	var log bytes.Buffer
	cmd := exec.Command(server, "--listen", "127.0.0.1:0", "--kubeconfig", filepath.Join(k.dir, "kubeconfig"))
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("the server said\n%s", &log)
		}
	})
	for { // until the deadline of the test
		if _, err := os.Stat(filepath.Join(k.dir, "kubeconfig")); err == nil {
			if _, err := k.try("kubectl get --raw /readyz"); err == nil {
				return k
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (k kubectl) write(name, text string) {
	if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o666); err != nil {
		k.Fatal(err)
	}
}

// try runs a script and returns its output.
func (k kubectl) try(script string) (string, error) {
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = k.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(k.dir, "kubeconfig"), "HOME="+k.dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// sh runs a script that must not fail.
func (k kubectl) sh(script string) string {
	k.Helper()
	out, err := k.try(script)
	if err != nil {
		k.Fatalf("%.200s: %v\n%s", script, err, out)
	}
	return out
}

// deed runs deed in the directory and returns its standard output.
func (k kubectl) deed(args ...string) string {
	k.Helper()
	k.Chdir(k.dir)
	var out, stderr bytes.Buffer
	if code := Run(args, strings.NewReader(""), &out, &stderr); code > 1 {
		k.Fatalf("deed %q: exit code %d: %s", args, code, &stderr)
	}
	return out.String()
}

const kubectlDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: events.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Event, plural: events, singular: event, listKind: EventList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, additionalProperties: {type: string}}}}
`

// kubectlObjects has names that a shell or kubectl could misread: one with a quote, and a custom kind with the name of a built-in kind.
const kubectlObjects = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {it.s: "it's"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: a}]}}
---
apiVersion: example.com/v1
kind: Event
metadata: {name: boom}
spec: {"it's": "$HOME"}
`

// largeMap returns a ConfigMap whose patch is too long for an argument.
func largeMap(keys int) string {
	var b strings.Builder
	b.WriteString("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: large, namespace: default}\ndata:\n")
	for i := range keys {
		fmt.Fprintf(&b, "  a-key-with-a-long-name-%d: x\n", i)
	}
	return b.String()
}
