package report

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
)

// The formats for other programs.
const (
	FormatSARIF = "sarif"
	FormatJUnit = "junit"
)

// results collects findings for the formats of other programs, which begin with the number of findings.
type results struct {
	format   string // FormatSARIF or FormatJUnit
	command  string // the command with the findings
	subjects []*subject

	notChecked []string // the checks that the command leaves out
}

// subject is the thing that findings are about, usually an object.
type subject struct {
	file, name string
	found      []result
	failed     []result // why it could not be checked, at least not completely
	seen       seen
}

// seen says whether something was checked.
type seen uint8

// The values of seen: checked, not checkable, and not meant to be checked.
const (
	looked seen = iota
	notLooked
	exempted
)

// result is one finding.
type result struct {
	rule    string
	level   string // one of the levels below
	mild    bool   // whether the result does not make the subject fail
	where   notice.Position
	message string
	remedy  string
}

// The levels of results in SARIF.
const (
	levelError   = "error"
	levelWarning = "warning"
)

// newResults returns a collection of findings for format, or nil for formats without one.
func newResults(format, command string) *results {
	if format != FormatSARIF && format != FormatJUnit {
		return nil
	}
	return &results{format: format, command: command}
}

// begin adds the subject o.
func (r *results) begin(o *manifest.Object, seen seen) {
	if r != nil {
		r.subject(o.File, o.String()).seen = seen
	}
}

// subject returns the subject called name in file. It is the last one or a new one, because findings come subject by subject.
func (r *results) subject(file, name string) *subject {
	if n := len(r.subjects); n > 0 && r.subjects[n-1].file == file && r.subjects[n-1].name == name {
		return r.subjects[n-1]
	}
	s := &subject{file: file, name: name}
	r.subjects = append(r.subjects, s)
	return s
}

// note adds notices to their subjects. A notice without an object becomes a subject, named by its place.
func (r *results) note(notices []notice.Notice) {
	type id struct{ file, name string }
	known := map[id]*subject{}
	for _, s := range r.subjects {
		known[id{s.file, s.name}] = s
	}
	for _, n := range notices {
		key := id{n.Where.File, n.Subject}
		if n.Subject == "" {
			key.name = n.Where.String()
		}
		s := known[key]
		if s == nil {
			s = r.subject(key.file, key.name)
			known[key] = s
		}
		x := result{rule: string(n.Class), level: levelError, where: n.Where, message: n.Text}
		if n.Warning {
			x.level, x.mild = levelWarning, true
			s.found = append(s.found, x)
			continue
		}
		s.failed = append(s.failed, x)
	}
	for _, s := range r.subjects {
		if s.seen == notLooked && len(s.failed) == 0 {
			s.failed = []result{{
				rule: string(notice.BadSchema), level: levelError, where: notice.InFile(s.file), message: "not looked at: a schema cannot be used",
			}}
		}
	}
}

// all returns the findings about s and the reasons why it could not be checked.
func (s *subject) all() []result { return slices.Concat(s.found, s.failed) }

// write writes all results in their format, with the notices of the run.
func (r *results) write(out io.Writer, notices []notice.Notice) error {
	r.note(notices)
	if r.format == FormatJUnit {
		return r.writeJUnit(out)
	}
	return r.writeSARIF(out)
}

// rules returns the rules of all results without duplicates, in the order of their first results.
func (r *results) rules() []string {
	var out []string
	for _, s := range r.subjects {
		for _, x := range s.all() {
			if !slices.Contains(out, x.rule) {
				out = append(out, x.rule)
			}
		}
	}
	return out
}

// The parts of SARIF 2.1.0 that deed uses.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool        `json:"tool"`
		Automation sarifAutomation  `json:"automationDetails"`
		ColumnKind string           `json:"columnKind"`
		Results    []sarifResult    `json:"results"`
		Properties *sarifProperties `json:"properties,omitempty"`
	}
	sarifAutomation struct {
		ID string `json:"id"` // the category and a slash: code scanning separates the results of commands by it
	}
	sarifProperties struct {
		NotChecked []string `json:"notChecked"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID string `json:"id"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
)

// sarifSchema names the schema that the documents follow.
const sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"

func (r *results) writeSARIF(out io.Writer) error {
	run := sarifRun{Automation: sarifAutomation{r.command + "/"}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "deed", Rules: []sarifRule{}}
	if r.notChecked != nil {
		run.Properties = &sarifProperties{r.notChecked}
	}
	rules := r.rules()
	for _, rule := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{rule})
	}
	for _, s := range r.subjects {
		for _, x := range s.all() {
			place := sarifLocation{Logical: []sarifLogical{{s.name}}}
			place.Physical.Artifact.URI = fileURI(x.where.File)
			if x.where.Line > 0 {
				place.Physical.Region = &sarifRegion{x.where.Line, x.where.Column}
			}
			run.Results = append(run.Results, sarifResult{
				RuleID: x.rule, RuleIndex: slices.Index(rules, x.rule), Level: x.level,
				Message: sarifMessage{x.text()}, Locations: []sarifLocation{place},
			})
		}
	}
	return WriteJSON(out, sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
}

// text returns the message with the remedy.
func (x result) text() string {
	if x.remedy == "" {
		return x.message
	}
	return fmt.Sprintf("%s\n%s", x.message, x.remedy)
}

// fileURI returns the URI of a file for SARIF. It is relative if name is.
func fileURI(name string) string {
	u := url.URL{Path: filepath.ToSlash(name)}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}
