package etcd

import "testing"

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"3.4.23": false, "3.4.25": true, "3.5.7": false, "3.5.8": true, "3.5.21": true, "3.6.0": true, "3.6.0-rc.1": true, "3.7.0": true,
		"4.0.0": true, "3.3.27": false, "2.3.8": false, "": false, "devel": false,
	} {
		if got := tells(version); got != want {
			t.Errorf("%s tells: %v", version, got)
		}
	}
}
