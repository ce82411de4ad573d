package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// childVariable makes the test's program be a server, with these flags.
const childVariable = "DEED_TEST_SERVE"

func TestMain(m *testing.M) {
	if name := NameOf(os.Args[0]); name == KubeAPIServer || name == Etcd {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		os.Exit(Run(ctx, name, os.Args[1:], os.Stdout, os.Stderr))
	}
	if flags := os.Getenv(childVariable); flags != "" {
		os.Exit(Run(context.Background(), Name, strings.Fields(flags), os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestKill kills a server with kill -9 while 32 clients write and eight watch, again and again, and starts it anew. Nothing that was
// acknowledged is lost, and watchers that resume are told of each write once. DEED_KILLS says how many times; DEED_ETCD names a
// program of etcd to keep the objects in as well.
func TestKill(t *testing.T) {
	kills := 5
	if testing.Short() {
		kills = 2
	}
	if text := os.Getenv("DEED_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("file", func(t *testing.T) { killing(t, kills, "--data "+filepath.Join(t.TempDir(), "data")) })
	t.Run("etcd", func(t *testing.T) {
		program := os.Getenv("DEED_ETCD")
		if program == "" {
			t.Skip("DEED_ETCD names no etcd")
		}
		killing(t, kills, "--etcd-servers "+startEtcd(t, program, "http"))
	})
}

// free returns an address of the loopback interface that nobody listens on.
func free(t *testing.T) string {
	l, err := net.Listen("tcp", net.JoinHostPort(ownLoopback().String(), "0"))
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// ownLoopback returns a loopback address that no other process uses, on systems that have more than one. On 127.0.0.1, every connection
// of a client in any process may take the port of a server that is away for a moment.
func ownLoopback() net.IP {
	pid := os.Getpid()
	return net.IPv4(127, byte(64|pid>>16&63), byte(pid>>8), byte(pid))
}

// startEtcd starts an etcd with more flags, which ends with the test, and returns where it is.
func startEtcd(t *testing.T, program, scheme string, more ...string) string {
	client, peer := scheme+"://"+free(t), "http://"+free(t)
	p := exec.Command(program, append([]string{"--data-dir", t.TempDir(), "--log-level", "panic", "--listen-client-urls", client,
		"--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default=" + peer}, more...)...)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill() // it may have ended by itself
		_ = p.Wait()
	})
	return client
}

// load is what clients do to a server that is killed.
type load struct {
	url          string
	ctx          context.Context
	acknowledged atomic.Int64 // writes
	ending       atomic.Bool
}

func killing(t *testing.T, kills int, where string) {
	address := free(t)
	flags := "--listen " + address + " --insecure-http --crd ../../apitest/testdata/widgets.yaml " + where
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	l := &load{url: "http://" + address + "/apis/example.org/v1/namespaces/default/widgets", ctx: ctx}
	server := startServer(t, flags)
	begin := l.version(t)
	var writing, watching sync.WaitGroup
	last := make([]int, 32)
	for i := range last {
		writing.Go(func() { last[i] = l.write(t, fmt.Sprint("w", i)) })
	}
	watchers := make([]*watcher, 8)
	for i := range watchers {
		watchers[i] = &watcher{load: l, at: begin, counts: map[string]int{}}
		watching.Go(func() { watchers[i].follow(t) })
	}
	random := seeds.Rand(t)
	for range kills {
		from, more := l.acknowledged.Load(), 1+random.Int64N(300)
		for l.acknowledged.Load() < from+more && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		server.end(t)
		server = startServer(t, flags)
	}
	l.ending.Store(true)
	writing.Wait()
	end, code := l.send(http.MethodPost, "", "last", 0)
	if code != http.StatusCreated {
		t.Errorf("the last write: %d %s", code, end)
	}
	watching.Wait()
	server.end(t)
	for i, n := range last {
		for _, w := range watchers {
			if got := w.counts[fmt.Sprint("w", i)]; got != n {
				t.Errorf("a watcher was told of write %d of w%d last, and there were %d", got, i, n)
			}
		}
	}
	t.Logf("%d kills, %d acknowledged writes, %d watches of %d watchers", kills, l.acknowledged.Load(), sum(watchers), len(watchers))
}

func sum(watchers []*watcher) (n int) {
	for _, w := range watchers {
		n += w.watches
	}
	return n
}

// process is a server in a process of its own.
type process struct {
	*exec.Cmd
	complaint *bytes.Buffer
}

// startServer starts a server, and returns when it serves.
func startServer(t *testing.T, flags string) *process {
	t.Helper()
	p := &process{exec.Command(os.Args[0]), &bytes.Buffer{}}
	p.Env, p.Stderr = append(os.Environ(), childVariable+"="+flags), p.complaint
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); !strings.HasPrefix(line, "Serving") {
		t.Fatalf("the server says %q, %v\n%s", line, err, p.complaint)
	}
	return p
}

// end kills the server.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err == nil || p.ProcessState.ExitCode() != -1 || strings.Contains(p.complaint.String(), "panic") {
		t.Fatalf("the server ended by itself: %v\n%s", err, p.complaint)
	}
}

// send sends a write of a widget that counts in a label, and returns the answer; code 0 is none.
func (l *load) send(method, path, name string, count int) (map[string]any, int) {
	body := fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":%q,"labels":{"count":"%d"}}}`, name, count)
	r, err := http.NewRequestWithContext(l.ctx, method, l.url+path, strings.NewReader(body))
	if err != nil {
		return nil, 0
	}
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	w, err := client.Do(r)
	if err != nil {
		return nil, 0
	}
	defer w.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(w.Body).Decode(&answer); err != nil {
		return nil, 0
	}
	return answer, w.StatusCode
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}

// version returns the resource version of the list, once the server answers.
func (l *load) version(t *testing.T) string {
	for l.ctx.Err() == nil {
		if list, code := l.send(http.MethodGet, "", "", 0); code == http.StatusOK {
			return list["metadata"].(map[string]any)["resourceVersion"].(string)
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the server does not answer")
	return ""
}

// write counts in a widget, and looks after each failure how far it came: what was acknowledged is there, and at most the write whose
// answer did not come beside it. It returns the last count.
func (l *load) write(t *testing.T, name string) int {
	next, known := 1, false // known: the widget has next-1
	for !l.ending.Load() && l.ctx.Err() == nil {
		if !known {
			count, ok := l.stored(name)
			if !ok {
				time.Sleep(5 * time.Millisecond)
				continue
			}
			if count != next-1 && count != next {
				t.Errorf("%s counts %d, and %d was acknowledged", name, count, next-1)
				return count
			}
			next, known = count+1, true
		}
		method, path, want := http.MethodPatch, "/"+name, http.StatusOK
		if next == 1 {
			method, path, want = http.MethodPost, "", http.StatusCreated
		}
		answer, code := l.send(method, path, name, next)
		switch code {
		case want:
			l.acknowledged.Add(1)
			next++
		case 0, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusInternalServerError:
			known = false
		default:
			t.Errorf("%s: %d %v", name, code, answer)
			return next - 1
		}
	}
	for l.ctx.Err() == nil {
		if count, ok := l.stored(name); ok {
			return count
		}
		time.Sleep(5 * time.Millisecond)
	}
	return -1
}

// stored returns what a widget counts, 0 if there is none, and whether the server answers.
func (l *load) stored(name string) (int, bool) {
	answer, code := l.send(http.MethodGet, "/"+name, "", 0)
	if code == http.StatusNotFound {
		return 0, true
	}
	if code != http.StatusOK {
		return 0, false
	}
	n, err := strconv.Atoi(answer["metadata"].(map[string]any)["labels"].(map[string]any)["count"].(string))
	return n, err == nil
}

// watcher follows the widgets, and resumes where it was.
type watcher struct {
	*load
	at      string
	counts  map[string]int // by name: what was told last
	watches int
}

// follow watches until it is told of the widget that is called last.
func (w *watcher) follow(t *testing.T) {
	for {
		if _, told := w.counts["last"]; told || w.ctx.Err() != nil {
			return
		}
		w.watches++
		if err := w.watch(); err != nil {
			t.Error(err)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// watch watches once. The error is that it is told something twice, or misses something.
func (w *watcher) watch() error {
	r, err := http.NewRequestWithContext(w.ctx, http.MethodGet, w.url+"?watch=true&resourceVersion="+w.at, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		var event struct {
			Type   string
			Object struct {
				Metadata struct {
					Name, ResourceVersion string
					Labels                struct {
						Count int `json:",string"`
					}
				}
			}
		}
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			return nil // a line that was cut off
		}
		m := event.Object.Metadata
		if event.Type != "ADDED" && event.Type != "MODIFIED" {
			return fmt.Errorf("after %s: %s", w.at, lines.Bytes())
		}
		if want := w.counts[m.Name] + 1; m.Name != "last" && m.Labels.Count != want {
			return fmt.Errorf("after %s a watcher is told at %s that %s counts %d, and not %d", w.at, m.ResourceVersion, m.Name, m.Labels.Count, want)
		}
		w.at, w.counts[m.Name] = m.ResourceVersion, m.Labels.Count
		if m.Name == "last" {
			return nil
		}
	}
	return nil
}
