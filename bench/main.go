package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
)

func main() {
	name := flag.String("client", "", "")
	port := flag.String("port", "", "")
	n := flag.Int("n", 64, "")
	sec := flag.Float64("seconds", 5, "")
	st := flag.Bool("stamps", false, "")
	prof := flag.String("prof", "", "")
	flag.Parse()
	if *prof != "" {
		f, _ := os.Create(*prof)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	if err := run(*name, task{"http://127.0.0.1:" + *port, *n, *st}, *sec); err != nil {
		fmt.Println(err)
	}
}
