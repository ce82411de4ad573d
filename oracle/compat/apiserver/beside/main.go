// Command beside sends the requests of recordings to two API servers and compares their answers byte for byte. Then it measures the CPU
// of a patch of a Pod's status on both. Uids, resource versions, times and allocated addresses differ between any two servers, and are
// masked. The servers listen on 127.0.0.1 and accept the token tok:
//
//	go run ./beside -plain PORT,PID -deed PORT,PID FILE...
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	plain, deed := flag.String("plain", "", "`PORT,PID` of the server with structured-merge-diff"), flag.String("deed", "", "`PORT,PID` of the server with deed")
	patches := flag.Int("patches", 1000, "how often to patch the status of a Pod, in each of ten rounds")
	flag.Parse()
	if err := run(*plain, *deed, *patches, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(plain, deed string, patches int, files []string) error {
	var servers [2]*server
	for i, address := range []string{plain, deed} {
		port, pid, ok := strings.Cut(address, ",")
		if !ok {
			return fmt.Errorf("%q is no port and process", address)
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 1}}
		servers[i] = &server{base: "https://127.0.0.1:" + port, pid: pid, client: client}
	}
	steps := 0
	for _, file := range files {
		n, err := play(file, servers)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		steps += n
	}
	fmt.Printf("%d answers are equal\n", steps)
	return measure(servers, patches)
}

// server is a kube-apiserver.
type server struct {
	base, pid string
	client    *http.Client

	// What stands for uids and resource versions that the recording has.
	actual map[string]string
}

// answer is what a server says to a request.
type answer struct {
	code     int
	warnings []string
	body     string
}

func (s *server) send(method, path, contentType, agent, body string) (answer, error) {
	r, err := http.NewRequest(method, s.base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer tok")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", agent)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	response, err := s.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header.Values("Warning"), string(text)}, errors.Join(err, response.Body.Close())
}

// history is a line of a recording.
type history struct {
	Name  string
	Steps []step
}

type step struct {
	Method, Path, Query, ContentType, UserAgent string
	Body, Live, After                           json.RawMessage
}

// play plays the histories of a file on both servers, and returns how many requests there were.
func play(file string, servers [2]*server) (steps int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var h history
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			return steps, err
		}
		if err := h.playOften(servers); err != nil {
			return steps, fmt.Errorf("%s: %w", h.Name, err)
		}
		steps += len(h.Steps)
	}
	return steps, lines.Err()
}

// playOften plays h again if the answers differ: managed fields are sorted by seconds, and the two servers do not write in the same ones.
func (h *history) playOften(servers [2]*server) (err error) {
	for range 5 {
		err = h.play(servers)
		for _, s := range servers {
			if err := h.remove(s); err != nil {
				return err
			}
		}
		if err == nil {
			return nil
		}
	}
	return err
}

func (h *history) play(servers [2]*server) error {
	for _, s := range servers {
		s.actual = map[string]string{}
	}
	for i, step := range h.Steps {
		var answers [2]answer
		for k, s := range servers {
			a, err := s.step(step)
			if err != nil {
				return err
			}
			if after, err := s.send("GET", strings.TrimSuffix(strings.TrimSuffix(step.object(h.Name), "/"), "?"), "", "", ""); err != nil {
				return err
			} else if after.code == http.StatusOK {
				s.learn(step.After, after.body)
			}
			a.body = mask(a.body)
			answers[k] = a
		}
		if a, b := answers[0], answers[1]; a.code != b.code || a.body != b.body || !slices.Equal(a.warnings, b.warnings) {
			return fmt.Errorf("step %d, %s %s\n%d %q %s\nwith deed:\n%d %q %s", i, step.Method, step.Path, a.code, a.warnings, a.body, b.code, b.warnings, b.body)
		}
	}
	return nil
}

// object returns the path of the object called name that the step is about.
func (s *step) object(name string) string {
	before, _, found := strings.Cut(s.Path, "/"+name)
	if !found {
		before = s.Path
	}
	return before + "/" + name
}

// step sends a request.
func (s *server) step(r step) (answer, error) {
	body := string(r.Body)
	if body == "null" {
		body = ""
	}
	var text string
	if json.Unmarshal(r.Body, &text) == nil && strings.HasPrefix(body, `"`) {
		body = text // what is no JSON is recorded as a string
	}
	for recorded, actual := range s.actual {
		body = strings.ReplaceAll(body, recorded, actual)
	}
	path := r.Path
	if r.Query != "" {
		path += "?" + r.Query
	}
	return s.send(r.Method, path, r.ContentType, r.UserAgent, body)
}

// learn notes what stands for the uid and the resource version of a recorded object.
func (s *server) learn(recorded json.RawMessage, object string) {
	type meta struct {
		Metadata struct{ UID, ResourceVersion string }
	}
	var was, is meta
	if json.Unmarshal(recorded, &was) != nil || json.Unmarshal([]byte(object), &is) != nil || was.Metadata.UID == "" {
		return
	}
	s.actual[was.Metadata.UID] = is.Metadata.UID
	for _, space := range []string{"", " "} {
		name := `"resourceVersion":` + space
		s.actual[name+strconv.Quote(was.Metadata.ResourceVersion)] = name + strconv.Quote(is.Metadata.ResourceVersion)
	}
}

var masks = regexp.MustCompile(`resourceVersion\\*": ?\\*"[^"\\]*|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|10\.0\.0\.\d+|[nN]odePort(\\*")?: ?(\{\w+ )?\d+`)

const jsonString = `"(?:[^"\\]|\\.)*"`

var (
	cause  = `\{"reason":"FieldManagerConflict","message":` + jsonString + `,"field":` + jsonString + `\}`
	causes = regexp.MustCompile(cause + "(," + cause + ")*")
	one    = regexp.MustCompile(cause)
)

// mask returns text without what differs between any two servers. structured-merge-diff lists conflicts in any order.
func mask(text string) string {
	text = causes.ReplaceAllStringFunc(text, func(list string) string {
		sorted := one.FindAllString(list, -1)
		slices.Sort(sorted)
		return strings.Join(sorted, ",")
	})
	return masks.ReplaceAllString(text, "#")
}

// remove deletes the object of h, and waits until it is gone.
func (h *history) remove(s *server) error {
	path := h.Steps[0].object(h.Name)
	for range 100 {
		a, err := s.send("GET", path, "", "", "")
		if err != nil || a.code == http.StatusNotFound {
			return err
		}
		if _, err := s.send("PATCH", path, "application/merge-patch+json", "", `{"metadata":{"finalizers":null}}`); err != nil {
			return err
		}
		if _, err := s.send("DELETE", path+"?gracePeriodSeconds=0", "", "", ""); err != nil {
			return err
		}
		if path == "/api/v1/namespaces/"+h.Name { // nothing else finalizes it here
			if _, err := s.send("PUT", path+"/finalize", "application/json", "", `{"metadata":{"name":"`+h.Name+`"}}`); err != nil {
				return err
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the object stays")
}

// measure prints the CPU that each server takes for a patch of a Pod's status. The two take turns.
func measure(servers [2]*server, patches int) error {
	const pod = "/api/v1/namespaces/default/pods/measured"
	for _, s := range servers {
		if _, err := s.send("DELETE", pod+"?gracePeriodSeconds=0", "", "", ""); err != nil {
			return err
		}
		for i, manager := range []string{"creator", "scheduler", "applier", "labeller"} {
			config := fmt.Sprintf(podText, manager, i)
			if a, err := s.send("PATCH", pod+"?force=true&fieldManager="+manager, "application/apply-patch+yaml", "", config); err != nil || a.code >= 300 {
				return fmt.Errorf("%d %s: %w", a.code, a.body, err)
			}
		}
	}
	var spent [2]time.Duration
	const rounds = 10
	for round := range rounds + 1 {
		for i, s := range servers {
			before, err := s.cpu()
			if err != nil {
				return err
			}
			for n := range patches {
				status := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"%t","message":"%d of %d"}]}}`, n%2 == 0, n, round)
				a, err := s.send("PATCH", pod+"/status?fieldManager=kubelet", "application/strategic-merge-patch+json", "", status)
				if err != nil || a.code != http.StatusOK {
					return fmt.Errorf("%d %s: %w", a.code, a.body, err)
				}
			}
			after, err := s.cpu()
			if err != nil {
				return err
			}
			if round > 0 { // the first one is to warm up
				spent[i] += after - before
			}
		}
	}
	each := [2]time.Duration{spent[0] / time.Duration(rounds*patches), spent[1] / time.Duration(rounds*patches)}
	fmt.Printf("a patch of a Pod's status takes %v of CPU, and %v with deed: %.0f %% less\n", each[0], each[1], 100*(1-float64(each[1])/float64(each[0])))
	return nil
}

// podText is the configuration of a Pod, with a name of a manager and a number.
const podText = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"measured","labels":{"app":"web","tier":"front","%[1]s":"%[2]d"},"annotations":{"example.com/%[1]s":"yes"}},
"spec":{"volumes":[{"name":"config","configMap":{"name":"web"}},{"name":"cache","emptyDir":{}}],"containers":[
{"name":"web","image":"example.com/web:1.2","ports":[{"containerPort":80,"name":"http"},{"containerPort":443,"name":"https"}],
"env":[{"name":"LEVEL","value":"info"},{"name":"REGION","value":"north"},{"name":"NODE","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}],
"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},
"volumeMounts":[{"name":"config","mountPath":"/etc/web"},{"name":"cache","mountPath":"/var/cache"}],
"livenessProbe":{"httpGet":{"path":"/alive","port":80},"periodSeconds":10},"readinessProbe":{"httpGet":{"path":"/ready","port":80},"periodSeconds":5}},
{"name":"proxy","image":"example.com/proxy:3","ports":[{"containerPort":15001}],"env":[{"name":"MODE","value":"sidecar"}],
"resources":{"requests":{"cpu":"10m","memory":"32Mi"}}}],
"tolerations":[{"key":"dedicated","operator":"Equal","value":"web","effect":"NoSchedule"}],"nodeSelector":{"disk":"fast"}}}`

// cpu returns how much CPU the process of s has used: fields 14 and 15 of its line in /proc, in hundredths of a second.
func (s *server) cpu() (time.Duration, error) {
	line, err := os.ReadFile("/proc/" + s.pid + "/stat")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	user, err := strconv.Atoi(string(fields[11]))
	system, err2 := strconv.Atoi(string(fields[12]))
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err, err2)
}
