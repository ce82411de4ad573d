package command

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// TestAssets starts the programs of the subcommand assets as envtest does: with its flags, until they answer its health checks. Objects
// outlive kube-apiserver, and the programs end without an error when they are told to.
func TestAssets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "o'brien")
	var out, errOut output
	for range 2 { // the second time, the programs are there
		if code := Run(t.Context(), Name, []string{"assets", dir}, &out, &errOut); code != 0 {
			t.Fatal(errOut.String())
		}
	}
	if want := "export KUBEBUILDER_ASSETS='" + strings.ReplaceAll(dir, "'", `'\''`) + "'\n"; out.String() != want+want {
		t.Errorf("printed %s, want %s twice", out.String(), want)
	}
	program := func(name string) string { return filepath.Join(dir, name) }
	for name, wanted := range map[string]bool{"unsafe-no-fsync": true, "insecure-port": false} {
		of := map[bool]string{true: Etcd, false: KubeAPIServer}[wanted]
		help, err := exec.Command(program(of), "--help").CombinedOutput()
		if has := regexp.MustCompile(`(?m)^\s*--` + name + `\b`).Match(help); err != nil || has != wanted {
			t.Errorf("%s --help: --%s is there: %v, %v", of, name, has, err)
		}
	}

	_, etcdPort, _ := net.SplitHostPort(free(t))
	host, port, _ := net.SplitHostPort(free(t))
	etcdURL := "http://localhost:" + etcdPort
	etcd := startProgram(t, program(Etcd), "--data-dir="+filepath.Join(dir, "data"), "--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL,
		"--listen-peer-urls=http://localhost:0", "--unsafe-no-fsync=true")
	awaitOK(t, etcdURL+"/health")
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(adminToken+",admin,1,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--allow-privileged=true", "--authorization-mode=AlwaysAllow", "--token-auth-file=" + tokens, "--bind-address=" + host, "--secure-port=" + port,
		"--cert-dir=" + filepath.Join(dir, "certs"), "--disable-admission-plugins=ServiceAccount,AlwaysPullImages", "--etcd-servers=" + etcdURL,
		"--service-cluster-ip-range=10.0.0.0/24", "--feature-gates=A=true", "--watch-cache", "--v", "2"}
	at := "https://" + net.JoinHostPort(host, port)
	const path = "/api/v1/namespaces/default/configmaps"
	for round := range 2 {
		server := startProgram(t, program(KubeAPIServer), flags...)
		awaitOK(t, at+"/healthz")
		if round == 0 {
			answer, err := insecure.Post(at+path, "application/json", strings.NewReader(`{"metadata": {"name": "kept"}}`))
			if err != nil || answer.StatusCode != http.StatusCreated {
				t.Fatal(answer, err)
			}
			_ = answer.Body.Close() // of an answer that is not read
		}
		awaitOK(t, at+path+"/kept")
		server.end(t)
		want := "feature-gates v watch-cache"
		var told []string
		for _, m := range regexp.MustCompile(`kube-apiserver: --(\S+) has no effect in deed-apiserver\n`).FindAllStringSubmatch(server.errOut.String(), -1) {
			told = append(told, m[1])
		}
		if slices.Sort(told); strings.Join(told, " ") != want || !strings.Contains(server.errOut.String(), `has no plugin "AlwaysPullImages"`) {
			t.Errorf("told on stderr:\n%s\nwant %s", server.errOut.String(), want)
		}
	}
	etcd.end(t)
}

// TestKnownArguments leaves out flags that are not known, with their values.
func TestKnownArguments(t *testing.T) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.String("a", "", "")
	f.Bool("b", false, "")
	for line, want := range map[string]string{
		"--a x --b":             "--a x --b",
		"--a=x --x --b":         "--a=x --b",
		"--x=1 --b":             "--b",
		"--x 1 --b":             "--b",
		"--x --a 1":             "--a 1",
		"--x 1 2":               "2",
		"--help --x":            "--help",
		"--version -- --x left": "--version -- --x left",
	} {
		if got := strings.Join(knownArguments(f, strings.Fields(line), "p", io.Discard), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// insecure trusts every certificate, as the health checks of envtest do, and sends the token of an administrator.
var insecure = &http.Client{Transport: withToken{&http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
}}}

const adminToken = "admin-token"

type withToken struct{ http.RoundTripper }

func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+adminToken)
	return t.RoundTripper.RoundTrip(r)
}

// awaitOK waits until 200 is the answer at a URL.
func awaitOK(t *testing.T, url string) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(20 * time.Millisecond) {
		answer, err := insecure.Get(url)
		if err != nil {
			continue
		}
		_ = answer.Body.Close() // of an answer that is not read
		if answer.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatalf("%s does not answer with 200", url)
}

// running is a program that runs.
type running struct {
	*exec.Cmd
	errOut bytes.Buffer
}

func startProgram(t *testing.T, name string, args ...string) *running {
	t.Helper()
	p := &running{Cmd: exec.Command(name, args...)}
	p.Stderr = &p.errOut
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() }) // it may have ended
	return p
}

// end asks a program to end, and wants it to do so without an error.
func (p *running) end(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", p.Path, err, p.errOut.String())
	}
}
