// Command serve sends the same requests to deed-apiserver and to k8s.io/apiextensions-apiserver with an embedded etcd, in turns, and
// prints what each costs them.
//
//	go build -o /tmp/deed-apiserver ./server/cmd/deed-apiserver
//	cd oracle/record && GOWORK=off go run ./serve -deed /tmp/deed-apiserver
//
// With -floor it is compared with a server on net/http that reads and answers the same bytes, see [floor]. There -deed may name several
// programs, with commas between them, as to compare two builds.
//
// Each server is a process of its own, reached over TLS and HTTP/2. The first figure is the CPU time that a process spent per request,
// from /proc/PID/stat; beside it are the wall time per request and its 99th percentile. The etcd does not wait for the disk. Requests come
// once one at a time, as from kubectl, and once several at a time, as from a controller.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"

	"github.com/deed-project/deed/oracle/record/peer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	deed := flags.String("deed", "", "the deed-apiserver to measure; with -floor several, with commas between them")
	only := flags.String("row", "", "a regular expression for the rows to measure")
	objects := flags.Int("objects", 10000, "how many objects are listed")
	workers := flags.Int("workers", 8, "measure with one worker, and then with so many that send requests at the same time, over one connection")
	spend := flags.Duration("spend", time.Second, "the CPU time after which a row is measured")
	watches := flags.Int("watches", 0, "measure what watches cost instead, with so many events")
	informers := flags.Int("informers", 10, "how many informers start at once")
	alone := flags.Bool("alone", false, "measure what watches cost deed-apiserver by itself, as for a profile of it")
	plain := flags.Bool("plain", false, "take no compressed answers")
	onFloor := flags.Bool("floor", false, "compare with a server on net/http that reads and answers the same bytes, in place of the reference")
	rounds := flags.Int("rounds", 9, "with -floor: how often a row is measured; the middle one counts")
	apart := flags.Bool("apart", false, "give each worker a connection of its own")
	asFloor := flags.Bool("as-floor", false, "be that server, and end with the standard input")
	asPeer := flags.Bool("as-peer", false, "be the peer, and end with the standard input")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *asFloor {
		return beFloor(os.Stdin, out)
	}
	if *asPeer {
		return bePeer(ctx, os.Stdin, out)
	}
	rows, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if *deed == "" {
		return fmt.Errorf("-deed names no program")
	}
	b := &bench{out: out, objects: *objects, atOnce: *workers, spend: *spend, alone: *alone, plain: *plain, floor: *onFloor, apart: *apart, rounds: *rounds}
	defer b.stop()
	deeds := []string{*deed}
	if *onFloor {
		deeds = strings.Split(*deed, ",")
	}
	if err := b.start(ctx, deeds); err != nil {
		return err
	}
	switch {
	case *watches > 0:
		return b.watches(ctx, rows, *watches, *informers)
	case *onFloor:
		return b.beside(ctx, rows)
	}
	return b.run(ctx, rows)
}

// reach is how a process tells another where it is.
type reach struct {
	Host, Token string
	CA          []byte
	Name        string // in the certificate, if it is not that of Host
}

// bePeer starts the reference in this process, and says where it is.
func bePeer(ctx context.Context, in io.Reader, out io.Writer) error {
	s, err := peer.Start(ctx, os.Stderr)
	if err != nil {
		return err
	}
	defer s.Stop()
	where := reach{s.Config.Host, s.Config.BearerToken, s.Config.CAData, s.Config.ServerName}
	if where.CA == nil {
		if where.CA, err = os.ReadFile(s.Config.CAFile); err != nil {
			return err
		}
	}
	if err := json.NewEncoder(out).Encode(where); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}
