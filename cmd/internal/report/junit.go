package report

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// JUnit's report as Jenkins reads it, with a suite for each file and a case for each object.
type (
	junitReport struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Name     string        `xml:"name,attr"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		Skipped   *junitSkipped `xml:"skipped"`
		Failure   *junitFailure `xml:"failure"`
		Notes     string        `xml:"system-out,omitempty"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

func (r *results) writeJUnit(out io.Writer) error {
	all := junitReport{Name: r.command}
	byFile := map[string]*junitSuite{}
	for _, s := range r.subjects {
		suite := byFile[s.file]
		if suite == nil {
			suite = &junitSuite{Name: s.file}
			byFile[s.file] = suite
			all.Suites = append(all.Suites, suite)
		}
		c := s.junit()
		suite.Cases = append(suite.Cases, c)
		suite.Tests++
		all.Tests++
		if c.Failure != nil {
			suite.Failures++
			all.Failures++
		}
		if c.Skipped != nil {
			suite.Skipped++
		}
	}
	b := bufio.NewWriter(out)
	b.WriteString(xml.Header)
	e := xml.NewEncoder(b)
	e.Indent("", "    ")
	err := e.Encode(all)
	b.WriteString("\n")
	return errors.Join(err, b.Flush())
}

// junit returns the case of s. It has one failure, of the type of the first finding, however many
// there are: not all readers know of several.
func (s *subject) junit() junitCase {
	c := junitCase{Name: s.name, ClassName: s.file}
	if s.skipped != "" {
		c.Skipped = &junitSkipped{s.skipped}
	}
	var failed, noted []string
	for _, x := range s.found {
		text := fmt.Sprintf("%v: %s: %s", x.where, x.rule, x.text())
		if x.mild {
			noted = append(noted, text)
			continue
		}
		if failed = append(failed, text); c.Failure == nil {
			c.Failure = &junitFailure{Message: x.message, Type: x.rule}
		}
	}
	if c.Failure != nil {
		c.Failure.Text = strings.Join(failed, "\n")
	}
	c.Notes = strings.Join(noted, "\n")
	return c
}
