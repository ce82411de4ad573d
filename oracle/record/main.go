// Command record sends random requests for custom resources to a real API server and records the answers.
//
//	cd oracle/record && GOWORK=off go run . -seed 7 -out recordings.jsonl.gz -n 400
//	cd ../..         && DEED_RECORDINGS=$PWD/oracle/record/recordings.jsonl.gz go test -run TestRecordings .
//
// The server is k8s.io/apiextensions-apiserver with an embedded etcd, on free ports of the loopback interface and in a temporary directory.
// Both end with the program. testdata/recordings/README.md describes the format and the classes of scenarios. Equal seeds give equal
// requests. The exceptions are requests that depend on the order of managed fields in earlier answers, and so on times. The command is a
// separate module outside of the workspace, because the server needs hundreds of packages.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/oracle/record/peer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// server is the API server under record.
type server struct{ *peer.Server }

func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "of the random requests")
	out := flags.String("out", "", "the file to write; compressed if it ends with .gz")
	n := flags.Int("n", 400, "how many scenarios to record")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" || *n < 1 || flags.NArg() > 0 {
		return errors.New("need -out and nothing but flags")
	}
	started, err := peer.Start(ctx, log)
	if err != nil {
		return err
	}
	defer started.Stop()
	server := &server{started}
	scenarios, err := record(ctx, server, *seed, *n)
	if err != nil {
		return err
	}
	steps := 0
	for _, s := range scenarios {
		steps += len(s.Steps)
	}
	fmt.Fprintf(log, "%d scenarios, %d steps\n", len(scenarios), steps)
	return write(*out, scenarios)
}

// write writes scenarios, one per line.
func write(name string, scenarios []recording.Scenario) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffer := bufio.NewWriter(file)
	var w io.Writer = buffer
	if strings.HasSuffix(name, ".gz") {
		compressed, err := gzip.NewWriterLevel(buffer, gzip.BestCompression)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, buffer.Flush()) }()
		defer func() { err = errors.Join(err, compressed.Close()) }()
		w = compressed
	}
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, s := range scenarios {
		if err := lines.Encode(s); err != nil {
			return err
		}
	}
	return buffer.Flush()
}
