package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
)

// peer is a server that is asked.
type peer struct {
	url  string
	http *http.Client
	live map[string]map[string]any // the stored base objects, by their IDs
}

func newPeer(url string) *peer {
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true}, // the certificate is made for the run
		MaxIdleConnsPerHost: 32,
	}
	return &peer{url, &http.Client{Transport: transport, Timeout: 20 * time.Second}, map[string]map[string]any{}}
}

// answer is what a server says to a request.
type answer struct {
	Code     int      `json:"code"`
	Reason   string   `json:"reason,omitempty"`
	Message  string   `json:"message,omitempty"`
	Details  details  `json:"details,omitzero"`
	Warnings []string `json:"warnings,omitempty"`

	object map[string]any
}

type details struct {
	Name    string  `json:"name,omitempty"`
	Group   string  `json:"group,omitempty"`
	Kind    string  `json:"kind,omitempty"`
	Causes  []cause `json:"causes,omitempty"`
	Seconds int     `json:"retryAfterSeconds,omitempty"`
}

type cause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

func (p *peer) send(method, path string, body any) (answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	r, err := http.NewRequest(method, p.url+path, bytes.NewReader(text))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer tok")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "faults/1")
	response, err := p.http.Do(r)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return answer{Message: "no answer: the connection was closed, or it took too long"}, nil
	}
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{Code: response.StatusCode}
	for _, warning := range response.Header.Values("Warning") {
		if !strings.Contains(warning, "this server stores") { // what deed-apiserver does not enforce
			a.Warnings = append(a.Warnings, masked(warning))
		}
	}
	if a.Code < 300 {
		a.object, err = decodeJSON(content)
		return a, err
	}
	if json.Unmarshal(content, &a) != nil {
		a.Message = string(content)
	}
	a.Message, a.Code = masked(a.Message), response.StatusCode
	a.Details.Name = masked(a.Details.Name)
	for i := range a.Details.Causes {
		c := &a.Details.Causes[i]
		c.Message, c.Field = masked(c.Message), masked(c.Field)
	}
	return a, nil
}

// byChance is what differs from run to run in answers.
var byChance = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\b20(2[5-9]|3[0-3])-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)?`), "TIME"},
	{regexp.MustCompile(`"resourceVersion":"\d+"`), `"resourceVersion":"VERSION"`},
	{regexp.MustCompile(`0xc[0-9a-f]{6,}`), "POINTER"},
}

func masked(text string) string {
	for _, c := range byChance {
		if strings.ContainsAny(text, "0123456789") {
			text = c.pattern.ReplaceAllString(text, c.shown)
		}
	}
	return text
}

// install creates a base object, gives it its status, and keeps what is stored. An object of an earlier run is used again.
func (p *peer) install(b *base) (answer, error) {
	a, err := p.send(http.MethodPost, b.Path+"?fieldManager=faults", b.Object)
	if a.Code >= 400 { // a Service may have its ports already, so that it is no conflict
		if stored, err := p.read(b); err == nil && stored.Code == http.StatusOK {
			return stored, nil
		}
		return a, err
	}
	if err != nil || a.Code != http.StatusCreated {
		return a, err
	}
	live := a.object
	if status := b.Object["status"]; status != nil {
		path := fmt.Sprintf("%s/%s/status?fieldManager=faults", b.Path, get(live, "metadata", "name"))
		if a, err = p.send(http.MethodPut, path, put(live, []any{"status"}, edit{Value: status})); err != nil || a.Code != http.StatusOK {
			return a, err
		}
		live = a.object
	}
	p.keep(b, live)
	return a, nil
}

// read reads what is stored of a base object, and keeps it.
func (p *peer) read(b *base) (answer, error) {
	a, err := p.send(http.MethodGet, fmt.Sprintf("%s/%s", b.Path, get(b.Object, "metadata", "name")), nil)
	if err == nil && a.Code == http.StatusOK {
		p.keep(b, a.object)
	}
	return a, err
}

// keep keeps what is stored of a base object.
func (p *peer) keep(b *base, live map[string]any) {
	p.live[b.ID] = put(live, []any{"metadata", "managedFields"}, edit{Remove: true}).(map[string]any)
}
