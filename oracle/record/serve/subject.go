package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// subject is a server that is measured, in a process of its own.
type subject struct {
	name    string
	process *exec.Cmd
	client  *http.Client
	where   reach
	stdin   io.Closer
	anyCode bool // answers have no status code of their own

	workers []*worker

	begun time.Time     // when the process was started
	ready time.Duration // from then until it said that it was ready
}

func (s *subject) stop() {
	s.stdin.Close()
	_ = s.process.Process.Signal(os.Interrupt)
	_ = s.process.Wait()
}

// launch starts a program, and returns it with its output.
func launch(name, program string, args ...string) (*subject, *bufio.Reader, error) {
	s := &subject{name: name, process: exec.Command(program, args...)}
	s.process.Stderr = os.Stderr
	in, err := s.process.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	s.stdin = in
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	s.begun = time.Now()
	return s, bufio.NewReader(out), s.process.Start()
}

// startSelf starts this program once more, as the reference or as the floor.
func startSelf(ctx context.Context, floor, plain bool) (*subject, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	name, as := "apiextensions-apiserver", "-as-peer"
	if floor {
		name, as = "floor", "-as-floor"
	}
	s, out, err := launch(name, self, as)
	if err != nil {
		return nil, err
	}
	s.anyCode = floor
	if err := json.NewDecoder(out).Decode(&s.where); err != nil {
		return nil, fmt.Errorf("the peer says nothing: %w", err)
	}
	return s, s.connect(ctx, plain)
}

// startDeed starts a deed-apiserver, in memory.
func startDeed(ctx context.Context, program, dir string, plain bool) (*subject, error) {
	kubeconfig := filepath.Join(dir, "kubeconfig")
	s, out, err := launch("deed-apiserver", program, "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig)
	if err != nil {
		return nil, err
	}
	for line := ""; !strings.HasPrefix(line, "Try:"); {
		if line, err = out.ReadString('\n'); err != nil {
			return nil, fmt.Errorf("deed-apiserver does not start: %w", err)
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	s.where = reach{config.Host, config.BearerToken, config.CAData, ""}
	return s, s.connect(ctx, plain)
}

// connect makes the client, and waits until the server lists definitions. (The peer never calls itself ready: it misses a kube-apiserver.)
func (s *subject) connect(ctx context.Context, plain bool) error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.where.CA) {
		return fmt.Errorf("%s has no certificate", s.name)
	}
	s.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: s.where.Name}, ForceAttemptHTTP2: true, DisableCompression: plain,
	}}
	err := s.await(ctx, request{http.MethodGet, definitions, "", "", nil, http.StatusOK})
	s.ready = time.Since(s.begun)
	return err
}

// patience is how long a server may take to come to an answer.
const patience = 30 * time.Second

// await sends a request again and again until it succeeds.
func (s *subject) await(ctx context.Context, q request) error {
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, _, err := s.send(ctx, q); err == nil || time.Since(begun) > patience {
			return err
		}
	}
}

// request is one that both servers get.
type request struct {
	method, path, media, accept string
	body                        []byte
	code                        int // that is expected
}

// send sends a request, reads the answer, and returns how long that took.
func (s *subject) send(ctx context.Context, q request) ([]byte, time.Duration, error) {
	begun := time.Now()
	w, err := s.do(ctx, q, nil)
	if err != nil {
		return nil, 0, err
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	took := time.Since(begun)
	if err == nil && w.StatusCode != q.code && !s.anyCode {
		err = fmt.Errorf("%s: %s %s: %d, not %d: %.300s", s.name, q.method, q.path, w.StatusCode, q.code, text)
	}
	return text, took, err
}

// do sends a request with the headers that every request has, and those that add sets unless it is nil.
func (s *subject) do(ctx context.Context, q request, add func(http.Header)) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, q.method, s.where.Host+q.path, bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.where.Token)
	r.Header.Set("User-Agent", "serve/1")
	if q.media != "" {
		r.Header.Set("Content-Type", q.media)
	}
	if q.accept != "" {
		r.Header.Set("Accept", q.accept)
	}
	if add != nil {
		add(r.Header)
	}
	return s.client.Do(r)
}

// ticks is how many units of CPU time in /proc/PID/stat are a second, on every Linux that Go runs on.
const ticks = 100

// cpu returns the CPU time that the process has spent.
func (s *subject) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	var spent time.Duration
	for _, i := range []int{11, 12} { // utime and stime, behind the name
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, err
		}
		spent += time.Duration(n) * time.Second / ticks
	}
	return spent, nil
}

// resident returns the memory that the process holds, in bytes.
func (s *subject) resident() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
