package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// byKubectl is the method of a request that kubectl sends. The path has its arguments, and the body the manifest.
const byKubectl = "kubectl"

// kubectl is the program. A nil one is not used.
type kubectl struct {
	program string
	dir     string // of kubeconfigs and caches, for each server by its port
}

// newKubectl returns a kubectl that knows servers. The caller must call close.
func newKubectl(program string, servers ...*pair.Server) (*kubectl, error) {
	dir, err := os.MkdirTemp("", "kubectl")
	if err != nil {
		return nil, err
	}
	k := &kubectl{program, dir}
	for _, s := range servers {
		home := k.home(s)
		config := map[string]any{
			"apiVersion": "v1", "kind": "Config", "current-context": "c",
			"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": s.String(), "insecure-skip-tls-verify": true}}},
			"users":    []any{map[string]any{"name": "u", "user": map[string]any{"token": "tok"}}},
			"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c", "user": "u"}}},
		}
		if err := os.MkdirAll(home, 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(home, "config"), []byte(pair.Text(config)), 0o600); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (k *kubectl) close() { os.RemoveAll(k.dir) }

// home returns the folder for a server.
func (k *kubectl) home(s *pair.Server) string {
	return filepath.Join(k.dir, s.String()[strings.LastIndexByte(s.String(), ':')+1:])
}

// send sends a request to a server, or has kubectl send it.
func (k *kubectl) send(s *pair.Server, q pair.Request) (pair.Answer, error) {
	if q.Method != byKubectl {
		return s.Send(q)
	}
	var said bytes.Buffer
	cmd := exec.Command(k.program, append(strings.Fields(q.Path), "-f", "-")...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(pair.Text(q.Body)), &said
	cmd.Env = append(os.Environ(), "HOME="+k.home(s), "KUBECONFIG="+filepath.Join(k.home(s), "config"))
	a := pair.Answer{Code: http.StatusOK}
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &exit):
		a.Code = http.StatusBadRequest // or another code, which kubectl does not say
	case err != nil:
		return a, err
	}
	lines := slices.DeleteFunc(strings.Split(said.String(), "\n"), func(line string) bool {
		return strings.Contains(line, "this server stores") // what deed-apiserver does not enforce
	})
	a.Message = pair.Masked(strings.Join(lines, "\n"))
	if _, after, found := strings.Cut(a.Message, conflictPrefix); found {
		a.Reason = "Conflict"
		a.Message, _, _ = strings.Cut(conflictPrefix+after, "\nPlease review the fields above")
	}
	return a, nil
}

// conflictPrefix is how the message about conflicts of an apply begins.
const conflictPrefix = "Apply failed with "

// keptOn is what kubectl says if it cannot apply again after a migration, which it does not mind.
const keptOn = "This is non-fatal"

// command is a write by kubectl: most often an apply, on the side of the client or of the server.
func (w *writer) command() (string, pair.Request) {
	op, args := "kubectl apply", []string{"apply"}
	manifest := w.configuration()
	switch n := w.IntN(10); {
	case n < 4:
	case n < 9 || w.first:
		op, args = "kubectl apply --server-side", append(args, "--server-side", fmt.Sprint("--force-conflicts=", w.chance(0.5)))
		if w.chance(0.3) {
			args = append(args, "--field-manager="+one(w, "alice", "flux", "kubectl-client-side-apply"))
		}
		if slices.Contains(w.kind.subresources, "status") && w.chance(0.1) {
			manifest = with(w.named(map[string]any{}), w.newStatus(), "status")
			args = append(args, "--subresource=status")
		}
	case w.live == nil:
		op, args = "kubectl create", []string{"create", fmt.Sprint("--save-config=", w.chance(0.5))}
	default:
		op, args = "kubectl replace", []string{"replace", fmt.Sprint("--save-config=", w.chance(0.3))}
	}
	if w.chance(0.3) {
		args = append(args, "--validate="+one(w, "strict", "warn", "ignore"))
	}
	if w.kind.namespace != "" {
		args = append(args, "-n", w.kind.namespace)
	}
	if w.chance(0.06) {
		manifest = w.spoiled(manifest)
	}
	return op, pair.Request{Method: byKubectl, Path: strings.Join(args, " "), Body: manifest}
}
