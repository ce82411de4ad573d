package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/notice"
)

// TestHelm installs the plugin in a real Helm, and lets it plan a release that Helm installs: as an administrator, and as a user who may get
// objects and nothing else.
func TestHelm(t *testing.T) {
	program := os.Getenv("DEED_HELM")
	if program == "" {
		t.Skip("DEED_HELM names no program of Helm: see CONTRIBUTING.md. TestScripts plays what Helm prints")
	}
	k := newClusterFixture(t)
	bin := filepath.Join(k.dir, "bin")
	home := filepath.Join(k.dir, "home")
	for _, dir := range []string{bin, home, filepath.Join(k.dir, "chart", "templates")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, filepath.Join(bin, "helm")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	k.write("chart/Chart.yaml", "{apiVersion: v2, name: web, version: 0.1.0}")
	k.write("chart/values.yaml", "{replicas: 2, extra: false}")
	k.write("chart/templates/all.yaml", chartTemplate)
	k.write("chart/templates/hook.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: hook, annotations: {helm.sh/hook: pre-upgrade}}}")
	user := ""
	helm := func(args ...string) (string, int) {
		cmd := exec.Command("helm", args...)
		cmd.Dir = k.dir
		cmd.Env = append(os.Environ(), "KUBECONFIG="+k.as(user))
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	step := func(code int, want []string, args ...string) {
		t.Helper()
		text, got := helm(args...)
		if got != code {
			t.Errorf("helm %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, text)
		}
		k.wants(text, want...)
	}
	plugin, err := filepath.Abs("../../../helm")
	if err != nil {
		t.Fatal(err)
	}
	step(0, nil, "plugin", "install", plugin)
	version, _ := helm("version", "--short")
	serverSide := strings.HasPrefix(version, "v4")

	step(0, []string{"2 objects, 2 created"}, "deed-plan", "shop", "./chart", "--set", "extra=true")
	step(0, nil, "install", "shop", "./chart", "--set", "extra=true")
	planned := "2 objects, 0 created" // with the values of the release
	if serverSide {
		planned += ", 2 without change" // those of Helm 3 become applies first
	}
	step(0, []string{planned}, "deed-plan", "shop", "./chart")
	k.patch("autoscaler", "/apis/apps/v1/namespaces/shop/deployments/shop", `{"spec":{"replicas":5}}`)
	conflict := []string{"1 conflicting", "conflicting  .spec.replicas: 5 becomes 3", `owned by "autoscaler" (Update, apps/v1)`}
	step(notice.ExitFinding, append(conflict, "ConfigMap extra is not in the chart any more"),
		"deed-plan", "shop", "./chart", "--set", "extra=false,replicas=3", "--only", "conflicting")
	if serverSide {
		step(1, []string{`conflict with "autoscaler" using apps/v1: .spec.replicas`}, "upgrade", "shop", "./chart", "--set", "extra=true,replicas=3")
	}
	step(0, []string{"taken"}, "deed-plan", "shop", "./chart", "--set", "extra=true,replicas=3", "--force-conflicts")

	user = "reader"
	step(notice.ExitInput, []string{"--template does without"}, "deed-plan", "shop", "./chart")
	step(notice.ExitFinding, conflict, "deed-plan", "shop", "./chart", "--template", "--is-upgrade", "--set", "replicas=3")
}

// chartTemplate is a chart of a Deployment, and of a ConfigMap if a value says so.
const chartTemplate = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
{{- if .Values.extra }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: extra}
data: {a: b}
{{- end }}
`

// patch changes an object by a merge patch of a manager.
func (k *clusterFixture) patch(manager, path, body string) {
	k.t.Helper()
	k.send("PATCH", "application/merge-patch+json", manager, path, body)
}
