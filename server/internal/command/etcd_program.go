package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/server/store/file"
)

// etcdCommand returns the command in the place of etcd, and the part of args that it knows.
//
// It stores nothing itself. It answers health checks, and tells [kubeAPIServerCommand] in which file the objects belong: one process
// writes them, and no request takes a way through a second one. The objects stay when kube-apiserver starts again, as with etcd.
func etcdCommand(args []string, errOut io.Writer) (*cobra.Command, []string) {
	var at, dataDir string
	var unsynced bool
	cmd := &cobra.Command{
		Use:  Etcd,
		Long: "The program is deed-apiserver in the place of etcd: it tells deed's kube-apiserver where to keep objects.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := filepath.Abs(dataDir)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return fmt.Errorf("--data-dir: %w", err)
			}
			return serveEtcd(cmd.Context(), at, dataFile{Name: filepath.Join(dir, "deed.db"), Unsynced: unsynced})
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	f := cmd.Flags()
	f.StringVar(&at, "listen-client-urls", "http://localhost:2379", "URL to listen on, of HTTP")
	f.StringVar(&dataDir, "data-dir", "default.etcd", "folder for the objects")
	f.BoolVar(&unsynced, "unsafe-no-fsync", false, "do not wait until objects are on disk")
	// These are about other members of a cluster, and this one has none.
	f.String("advertise-client-urls", "", "is taken, and has no effect")
	f.String("listen-peer-urls", "", "is taken, and has no effect")
	return cmd, knownArguments(f, args, Etcd, errOut)
}

// dataFile is the file of the objects.
type dataFile struct {
	Name     string `json:"name"`
	Unsynced bool   `json:"unsynced"`
}

// dataFilePath is where etcdCommand tells of the file.
const dataFilePath = "/deed/file"

// serveEtcd answers at a URL until ctx is done.
func serveEtcd(ctx context.Context, at string, objects dataFile) error {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" || u.Port() == "" {
		return fmt.Errorf("--listen-client-urls: %q is not one URL of the form http://HOST:PORT", at)
	}
	l, err := net.Listen("tcp", u.Host)
	if err != nil {
		return err
	}
	h := &http.Server{Handler: etcdHandler(objects), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = h.Close() })() // of a listener, at the end
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// etcdHandler answers as etcd where something asks whether it is there.
func etcdHandler(objects dataFile) http.Handler {
	answer := func(body any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(body) // who asked has gone
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /health", answer(map[string]string{"health": "true", "reason": ""}))
	mux.Handle("GET /version", answer(map[string]string{"etcdserver": "3.6.0", "etcdcluster": "3.6.0"}))
	mux.Handle("GET "+dataFilePath, answer(objects))
	return mux
}

// askForFile returns the file that [etcdCommand] tells of at a URL. Its name is empty if something else answers there. The error is that
// nothing answers.
func askForFile(ctx context.Context, at string) (dataFile, error) {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" || !loopback(u.Hostname()) {
		return dataFile{}, err // a file of another machine cannot be meant
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath(dataFilePath).String(), nil)
	if err != nil {
		return dataFile{}, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return dataFile{}, err
	}
	defer answer.Body.Close() // it is only read
	var objects dataFile
	if answer.StatusCode != http.StatusOK || json.NewDecoder(answer.Body).Decode(&objects) != nil {
		return dataFile{}, nil
	}
	return objects, nil
}

func (f dataFile) open() (*file.Store, error) {
	if f.Unsynced {
		return file.OpenUnsynced(f.Name)
	}
	return file.Open(f.Name)
}
