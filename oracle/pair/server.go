// Package pair has what programs need that send the same requests to a kube-apiserver and a deed-apiserver: a client of both, valid objects of
// the built-in kinds, and what the servers serve.
package pair

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server is a server that is asked. Its token is tok.
type Server struct {
	url  string
	http *http.Client

	mu    sync.Mutex
	asked map[uint64]int // see auditID
}

// Flags defines the flags that the programs have in common: the URLs of both servers, and the seed of all random choices.
func Flags(seed *uint64) (real, deed *string) {
	flag.Uint64Var(seed, "seed", 1, "the seed of all random choices")
	return flag.String("real", "https://127.0.0.1:16443", "the kube-apiserver"), flag.String("deed", "https://127.0.0.1:16543", "the deed-apiserver")
}

// Finish prints how many of what differ, and ends the program with 1 if any does, or if err has stopped the comparison. Otherwise it returns.
func Finish(differ int, what string, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if differ > 0 {
		fmt.Println(differ, what)
	}
	if err != nil || differ > 0 {
		os.Exit(1)
	}
}

// NewServer returns the server at a URL. The certificate is not checked: servers of a run make their own.
func NewServer(url string) *Server {
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
		MaxIdleConnsPerHost: 32,
	}
	client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Server{url: url, http: client, asked: map[uint64]int{}}
}

// String returns the URL of the server.
func (s *Server) String() string { return s.url }

// Request is what both servers are asked.
type Request struct {
	Method      string
	Path        string      // with the query
	ContentType string      // application/json if empty, and no header if [NoContentType]
	UserAgent   string      // of this package if empty
	Accept      string      // anything if empty
	Header      http.Header // replaces the headers above, and the token
	Body        any         // encoded as JSON, but bytes are sent as they are; nil sends none
}

// NoContentType is the content type of a request that says none.
const NoContentType = "-"

// Answer is what a server says to a request. Parts that differ from run to run are masked in its texts.
type Answer struct {
	Code     int      `json:"code"` // 0 if the server closed the connection, or took too long
	Reason   string   `json:"reason,omitempty"`
	Message  string   `json:"message,omitempty"`
	Details  Details  `json:"details,omitzero"`
	Warnings []string `json:"warnings,omitempty"`

	Object map[string]any `json:"-"` // of a success; nothing in it is masked
}

// Details are the details of a status.
type Details struct {
	Name    string  `json:"name,omitempty"`
	Group   string  `json:"group,omitempty"`
	Kind    string  `json:"kind,omitempty"`
	Causes  []Cause `json:"causes,omitempty"`
	Seconds int     `json:"retryAfterSeconds,omitempty"`
}

// Cause is one reason of a refusal.
type Cause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}

// Reply is an answer as it comes. Nothing in it is masked.
type Reply struct {
	Code   int // 0 if the server closed the connection, or took too long
	Header http.Header
	Body   []byte
}

// Plain returns a reply whose body is JSON in place of protocol buffers or CBOR. It returns other replies as they are.
func (r Reply) Plain() (Reply, error) {
	form, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || len(r.Body) == 0 {
		return r, nil
	}
	switch {
	case form == Protobuf && parameters["stream"] != "":
		r.Body, err = decodeEvents(r.Body)
	case form == Protobuf:
		r.Body, err = DecodeProtobuf(r.Body)
	case form == cborEvent:
		r.Body, err = decodeSequence(r.Body)
	case form == CBOR:
		r.Body, err = DecodeCBOR(r.Body)
	}
	return r, err
}

// Exchange sends a request. It returns an error if the request could not be sent. Redirections are answers.
func (s *Server) Exchange(q Request) (Reply, error) {
	text, ok := q.Body.([]byte)
	if !ok && q.Body != nil {
		var err error
		if text, err = json.Marshal(q.Body); err != nil {
			return Reply{}, err
		}
	}
	var body io.Reader
	if q.Body != nil {
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequest(q.Method, s.url+q.Path, body)
	if err != nil {
		return Reply{}, err
	}
	r.Header.Set("Authorization", "Bearer tok")
	if q.ContentType != NoContentType {
		r.Header.Set("Content-Type", cmp.Or(q.ContentType, "application/json"))
	}
	r.Header.Set("User-Agent", cmp.Or(q.UserAgent, "pair/1"))
	if q.Accept != "" {
		r.Header.Set("Accept", q.Accept)
	}
	maps.Copy(r.Header, q.Header)
	r.Header.Set("Audit-Id", s.auditID(r, text))
	response, err := s.http.Do(r)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return Reply{}, nil
	}
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return Reply{response.StatusCode, response.Header, content}, err
}

// Expect sends a request to servers, and returns an error if one answers with none of the codes.
func Expect(q Request, codes []int, servers ...*Server) error {
	for _, s := range servers {
		reply, err := s.Exchange(q)
		if err == nil && !slices.Contains(codes, reply.Code) {
			err = fmt.Errorf("%d %s", reply.Code, reply.Body)
		}
		if err != nil {
			return fmt.Errorf("%v: %s %s: %w", s, q.Method, q.Path, err)
		}
	}
	return nil
}

// Send sends a request whose answer is JSON, protocol buffers or CBOR. It returns an error if the request could not be sent, or the answer is
// none of these.
func (s *Server) Send(q Request) (Answer, error) {
	reply, err := s.Exchange(q)
	if err != nil {
		return Answer{}, err
	}
	if reply.Code == 0 {
		return Answer{Message: "no answer: the connection was closed, or it took too long"}, nil
	}
	if reply, err = reply.Plain(); err != nil {
		return Answer{}, err
	}
	a := Answer{Code: reply.Code}
	for _, warning := range reply.Header.Values("Warning") {
		if !strings.Contains(warning, "this server stores") { // what deed-apiserver does not enforce
			a.Warnings = append(a.Warnings, Masked(warning))
		}
	}
	if a.Code < 300 {
		a.Object, err = DecodeJSON(reply.Body)
		return a, err
	}
	if json.Unmarshal(reply.Body, &a) != nil {
		a.Message = string(reply.Body)
	}
	a.Message, a.Code = Masked(a.Message), reply.Code
	a.Details.Name = Masked(a.Details.Name)
	for i := range a.Details.Causes {
		c := &a.Details.Causes[i]
		c.Message, c.Field = Masked(c.Message), Masked(c.Field)
	}
	return a, nil
}

// Read reads what a path has into out.
func (s *Server) Read(path string, out any) error {
	a, err := s.Send(Request{Method: http.MethodGet, Path: path})
	if err == nil && a.Code != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, a.Code, a.Message)
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(a.Object)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}

// Watch returns the events of a watch in the form that a client accepts. The watch must end by itself. An answer that is no watch is an event.
func (s *Server) Watch(path, accept string) ([]any, error) {
	reply, err := s.Exchange(Request{Method: http.MethodGet, Path: path, Accept: accept})
	if err != nil {
		return nil, err
	}
	if reply, err = reply.Plain(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := json.NewDecoder(bytes.NewReader(reply.Body))
	d.UseNumber()
	var out []any
	for {
		var event any
		if err := d.Decode(&event); err == io.EOF {
			return out, nil
		} else if err != nil {
			return out, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, event)
	}
}

// String returns the answer in a line.
func (a Answer) String() string {
	text := fmt.Sprint(a.Code, " ", a.Message)
	if len(text) > 600 {
		text = text[:600] + "..."
	}
	for _, w := range a.Warnings {
		text += " | " + w
	}
	return text
}

// byChance is what differs from run to run in answers.
var byChance = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\b20(2[5-9]|3[0-3])-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)?`), "TIME"},
	{regexp.MustCompile(`resourceVersion(\\*":\\*")\d+`), `resourceVersion${1}VERSION`}, // in quoted JSON, too
	{regexp.MustCompile(`(parsing \\*")\d+`), `${1}VERSION`},                            // a version that cannot be read
	{regexp.MustCompile(`(decodable revision=)\d+`), "${1}VERSION"},
	{regexp.MustCompile(`selfType\d+`), "selfTypeNUMBER"},
	{regexp.MustCompile(`nodePort:\d+`), "nodePort:PORT"},
	{regexp.MustCompile(`(Duplicate value: )3[0-2]\d{3}\b`), "${1}PORT"},                        // an allocated one
	{regexp.MustCompile(`\b(10\.0\.0\.\d+|fd01::[0-9a-f]{1,4}(:[0-9a-f]{1,4})?)\b`), "ADDRESS"}, // of --service-cluster-ip-range
	{regexp.MustCompile(`0xc[0-9a-f]{6,}`), "POINTER"},
}

// Masked returns a text without what differs from run to run: UIDs, times, resource versions, node ports and addresses in memory.
func Masked(text string) string {
	for _, c := range byChance {
		if strings.ContainsAny(text, "0123456789") {
			text = c.pattern.ReplaceAllString(text, c.shown)
		}
	}
	return text
}
