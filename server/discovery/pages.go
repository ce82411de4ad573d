package discovery

import (
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/wire"
)

// pageWarning is what kube-apiserver says on both pages.
const pageWarning = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for " +
	"debugging purposes only."

// statusPage is the page /statusz as a document.
type statusPage struct {
	metav1.TypeMeta
	Metadata         pageMeta    `json:"metadata"`
	StartTime        metav1.Time `json:"startTime"`
	UptimeSeconds    int64       `json:"uptimeSeconds"`
	GoVersion        string      `json:"goVersion"`
	BinaryVersion    string      `json:"binaryVersion"`
	EmulationVersion string      `json:"emulationVersion"`
	Paths            []string    `json:"paths"`
}

// flagPage is the page /flagz as a document.
type flagPage struct {
	metav1.TypeMeta
	Metadata pageMeta          `json:"metadata"`
	Flags    map[string]string `json:"flags,omitempty"`
}

type pageMeta struct {
	Name string `json:"name"`
}

// pageOf is the metadata of both pages.
var pageOf = pageMeta{Name: "apiserver"}

// status answers with the version of the server and the time since which it runs.
func (h *Handler) status(w http.ResponseWriter, r *http.Request) {
	release := Version(h.Minor)
	up := max(0, h.Now().Sub(h.Started))
	page := statusPage{
		Metadata: pageOf, StartTime: metav1.NewTime(h.Started), UptimeSeconds: int64(up.Seconds()), GoVersion: runtime.Version(),
		BinaryVersion: strings.TrimPrefix(release.GitVersion, "v"), EmulationVersion: release.EmulationMajor + "." + release.EmulationMinor,
		Paths: []string{"/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version"},
	}
	text := fmt.Sprintf("\nStarted: %s\nUp: %d hr %02d min %02d sec\nGo version: %s\nBinary version: %s\nEmulation version: %s\nPaths: %s\n",
		h.Started.UTC().Format(time.UnixDate), int(up.Hours()), int(up.Minutes())%60, int(up.Seconds())%60,
		page.GoVersion, page.BinaryVersion, page.EmulationVersion, strings.Join(page.Paths, " "))
	h.page(w, r, "Statusz", text, func(meta metav1.TypeMeta) any {
		page.TypeMeta = meta
		return page
	})
}

// flags answers with the flags of the command.
func (h *Handler) flags(w http.ResponseWriter, r *http.Request) {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h.Flags)) {
		fmt.Fprintf(&text, "%s %s\n", name, h.Flags[name])
	}
	h.page(w, r, "Flagz", text.String(), func(meta metav1.TypeMeta) any { return flagPage{meta, pageOf, h.Flags} })
}

// page answers with a page as text, or as the document of a kind, whatever the method.
func (h *Handler) page(w http.ResponseWriter, r *http.Request, kind, text string, document func(metav1.TypeMeta) any) {
	rep, err := wire.NegotiatePage(r, kind, h.Response.CBOR)
	name := strings.ToLower(kind)
	switch {
	case err != nil:
		plain, _ := wire.Negotiate(r, wire.Offer{CBOR: h.Response.CBOR}) // else it is JSON
		h.Response.ErrorAs(w, r, plain, err)
	case rep.As == "":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "\napiserver %s\n%s\n%s", name, pageWarning, text)
	default:
		if rep.Of == wire.PageGroup+"/v1alpha1" {
			w.Header().Set("Warning", `299 - "This version of the `+name+` endpoint is deprecated. Please use a newer version."`)
		}
		page := document(metav1.TypeMeta{Kind: kind, APIVersion: rep.Of})
		h.Response.Document(w, r, http.StatusOK, rep, wire.Typed{Object: page})
	}
}
