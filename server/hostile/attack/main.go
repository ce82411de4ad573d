// Command attack sends the requests of package hostile to a server, and prints their cost.
//
//	attack -server http://127.0.0.1:8080            each attack at three sizes, one after the other
//	attack -server http://127.0.0.1:8080 -for 1h    attacks at random, a few at a time
//
// It exits with 1 if an answer is wrong or too long. Answers about an exceeded deadline are counted apart. A client cannot see what a
// server allocates per request. The long form prints the server's resident memory and goroutines each minute, if /metrics has them.
package main

import (
	"bufio"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/server/hostile"
)

func main() {
	var c client
	flag.StringVar(&c.url, "server", "", "URL of the server, without a slash at its end")
	flag.StringVar(&c.token, "token", "", "bearer token")
	insecure := flag.Bool("insecure", false, "trust any certificate")
	span := flag.Duration("for", 0, "send attacks at random for so long")
	seed := flag.Uint64("seed", 1, "of the random attacks")
	flag.Parse()
	if c.url == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	c.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: *insecure}}}
	if *span > 0 {
		c.storm(*span, *seed)
	} else {
		for i, a := range hostile.Attacks() {
			for k := range 3 {
				c.attack(a, place(fmt.Sprintf("%d-%d", i, k)), a.Size<<k, k == 2)
			}
		}
	}
	if n := c.wrong.Load(); n > 0 {
		fmt.Printf("%d attacks cost too much, or were answered otherwise\n", n)
		os.Exit(1)
	}
}

func place(name string) hostile.Place {
	return hostile.Place{Namespace: "hostile-" + name, Group: "g" + name + ".hostile.example.org"}
}

// client sends requests to a server. It is safe for concurrent use.
type client struct {
	url, token string
	http       *http.Client

	sent, late, wrong atomic.Int64 // number of attacks: all, those that exceeded the deadline, and those whose cost or answer was wrong
}

// storm sends random attacks from several goroutines.
func (c *client) storm(span time.Duration, seed uint64) {
	end, began := time.Now().Add(span), time.Now()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			random, attacks := rand.New(rand.NewPCG(seed, uint64(g))), hostile.Attacks()
			for i := 0; time.Now().Before(end); i++ {
				a, k := attacks[random.IntN(len(attacks))], random.IntN(3)
				c.attack(a, place(fmt.Sprintf("%d-%d", g, i)), a.Size<<k, k == 2)
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for tick := time.Tick(time.Minute); ; {
		select {
		case <-tick:
			fmt.Printf("%v: %d attacks, %d late, %s\n", time.Since(began).Round(time.Second), c.sent.Load(), c.late.Load(), c.state())
		case <-done:
			fmt.Printf("%v: %d attacks, %d late, %s\n", time.Since(began).Round(time.Second), c.sent.Load(), c.late.Load(), c.state())
			return
		}
	}
}

// attack prepares an attack, sends it, prints its cost, and cleans up.
func (c *client) attack(a hostile.Attack, p hostile.Place, n int, largest bool) {
	stored := 0
	for _, r := range a.Prepare(p, n) {
		stored += len(r.Body)
		c.prepare(r)
	}
	began := time.Now()
	cost, err := c.send(a.Send(p, n))
	took := time.Since(began).Round(time.Millisecond)
	cost.Stored = stored
	problem := ""
	switch {
	case err != nil:
		problem = err.Error()
	case cost.IsLate():
		c.late.Add(1)
	default:
		problem = a.Excess(cost, largest)
	}
	if problem != "" {
		c.wrong.Add(1)
	}
	c.sent.Add(1)
	fmt.Printf("%-60s %8d sent %9d answered %9d %4d %8v  %s\n", a.Name, n, cost.Sent, cost.Answered, cost.Code, took, problem)
	for _, r := range p.Clear() {
		_, _ = c.send(r) // there may be nothing to clean up
	}
}

// prepare sends a request that creates an object. It retries, because a new definition is served after a moment.
func (c *client) prepare(r hostile.Request) {
	for range 50 {
		cost, err := c.send(r)
		if err == nil && cost.Code != http.StatusNotFound && cost.Code != http.StatusTooManyRequests {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (c *client) send(r hostile.Request) (hostile.Cost, error) {
	cost := hostile.Cost{Sent: len(r.Body)}
	q, err := r.HTTP(c.url)
	if err != nil {
		return cost, err
	}
	if c.token != "" {
		q.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(q)
	if err != nil {
		return cost, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	cost.Code, cost.Answered, cost.Text = answer.StatusCode, len(text), string(text)
	return cost, err
}

// state returns the memory and goroutines from the server's metrics.
func (c *client) state() string {
	cost, err := c.send(hostile.Request{Method: http.MethodGet, Path: "/metrics"})
	if err != nil {
		return err.Error()
	}
	var out []string
	for lines := bufio.NewScanner(strings.NewReader(cost.Text)); lines.Scan(); {
		for _, name := range []string{"process_resident_memory_bytes ", "go_goroutines ", "go_memstats_heap_alloc_bytes "} {
			if strings.HasPrefix(lines.Text(), name) {
				out = append(out, lines.Text())
			}
		}
	}
	return strings.Join(out, ", ")
}
