package command

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/deed-project/deed/server"
)

// TestNothingSecretIsPrinted starts the command with tokens, a policy and a kubeconfig, and with files that hold a secret and are wrong. It
// looks for the secrets, and for the token of the administrator, in what the command prints with -v.
func TestNothingSecretIsPrinted(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const head = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
	for _, flags := range []string{
		"--load " + file("base64.yaml", head+"data: {p: hunter2}"), "--load " + file("number.yaml", head+"data: {p: 7319462}"),
		"--load " + file("list.yaml", head+"stringData: {p: [hunter2]}\nimmutable: hunter2"), "--load " + file("cut.yaml", head+"data: {p: hunter2\n"),
		"--load " + file("twice.yaml", head+"data: {p: hunter2, p: hunter2}"), "--load " + file("alias.yaml", head+"data: *hunter2"),
		"--webhook-kubeconfig " + file("hooks.yaml", "apiVersion: v1\nkind: Config\nusers:\n- name: x\n  user: {token: [hunter2], client-key-data: hunter2}\n"),
		"--webhook-kubeconfig " + file("hooks.json", `{"apiVersion":"v1","kind":"Config","users":"hunter2"}`),
		"--token-file " + file("quotes.csv", `hunter2 "hunter2,a,b`), "--token-file " + file("short.csv", "hunter2"),
		"--tls-cert " + file("cert.pem", "hunter2") + " --tls-key " + file("key.pem", "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n"),
		"--client-ca " + file("ca.pem", "hunter2"), "--etcd-servers http://hunter2:hunter2@127.0.0.1:1", "--etcd-servers http://hunter2@127.0.0.1:%zz",
	} {
		var out, errOut output
		if code := Run(t.Context(), Name, strings.Fields("--listen 127.0.0.1:0 -v "+flags), &out, &errOut); code == 0 || errOut.String() == "" {
			t.Errorf("%s: status %d, %s", flags, code, &errOut)
		}
		if text := strings.ReplaceAll(out.String()+errOut.String(), dir, ""); regexp.MustCompile("hunter2|7319462").MatchString(text) {
			t.Errorf("%s: %s", flags, text)
		}
	}

	kubeconfig := filepath.Join(dir, "kubeconfig")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut output
	serving := make(chan struct{})
	out.on, out.do = "Try: kubectl", func() {
		out.do = nil
		close(serving)
	}
	ended := make(chan int)
	go func() {
		ended <- Run(ctx, Name, strings.Fields("--listen 127.0.0.1:0 -v --log-format json --insecure-http --kubeconfig "+kubeconfig+
			" --token-file "+file("tokens.csv", "hunter2,joe,1")), &out, &errOut)
	}()
	<-serving
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	host, token := config.Clusters[server.KubeconfigName].Server, config.AuthInfos[server.KubeconfigName].Token
	for _, authorization := range []string{"Bearer hunter2", "Bearer hunter2 hunter2", "Bearer unknown-hunter2", "Bearer " + token, "Basic hunter2"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r, err := http.NewRequest(method, host+"/api/v1/namespaces/default/secrets?token=hunter2", strings.NewReader(head+"data: {p: hunter2}"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", authorization)
			r.Header.Set("Content-Type", "application/yaml")
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("status %d: %s", code, &errOut)
	}
	text := out.String() + errOut.String()
	if token == "" || strings.Contains(text, token) || strings.Contains(text, "hunter2") {
		t.Errorf("a token of %d characters is printed, or a secret:\n%s", len(token), text)
	}
	if !strings.Contains(text, "not authenticated") {
		t.Errorf("nothing was logged: %s", text)
	}
}
