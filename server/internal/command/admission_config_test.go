package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
)

// TestAdmissionConfig reads a file with configurations in itself, in a file beside it, of webhooks, and of a plugin that has none here.
func TestAdmissionConfig(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
	write("standards.yaml", "a: b\n")
	o, c, warned := &options{}, server.Config{}, strings.Builder{}
	o.pluginFile = write("all.yaml", head+`
- {name: PodSecurity, path: standards.yaml}
- {name: PodSecurity, path: absent.yaml, configuration: {apiVersion: v1, kind: Second}}
- {name: ResourceQuota, configuration: {apiVersion: v1, kind: Limits}}
- {name: ValidatingAdmissionWebhook, configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: /users}}
- {name: EventRateLimit, path: standards.yaml}
`)
	if err := o.configurePlugins(&c, &warned); err != nil {
		t.Fatal(err)
	}
	if got := c.PluginConfiguration; len(got) != 2 || string(got["PodSecurity"]) != "a: b\n" || !strings.Contains(string(got["ResourceQuota"]), "Limits") {
		t.Errorf("the plugins have %q", got)
	}
	if o.webhookUsers != "/users" || !strings.HasSuffix(warned.String(), "the configuration of plugin EventRateLimit has no effect\n") {
		t.Errorf("webhooks have %q, and the warning is %q", o.webhookUsers, warned.String())
	}
	for text, want := range map[string]string{
		"kind: Pod\napiVersion: v1\n":                       `no kind "Pod" is registered`,
		head + "- {name: PodSecurity, path: absent.yaml}\n": "plugin PodSecurity: open ",
		head + "- {nope: 1}\n":                              `unknown field "plugins[0].nope"`,
		head + "- {name: MutatingAdmissionWebhook, configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: /others}}\n": "all webhooks have the same kubeConfigFile here, and another one is /users",
	} {
		o := &options{webhookUsers: "/users", pluginFile: write("wrong.yaml", text)}
		if err := o.configurePlugins(&c, &warned); err == nil || !strings.HasPrefix(err.Error(), o.pluginFile+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, not %s", text, err, want)
		}
	}
}
