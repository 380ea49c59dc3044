// An S3-compatible object storage in memory, on loopback. It checks the signature of each request.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"

	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"
)

func main() {
	id := flag.String("id", "", "access key id")
	secret := flag.String("secret", "", "secret access key")
	buckets := flag.String("buckets", "", "names of the buckets, with commas between them")
	flag.Parse()

	backend := s3mem.New()
	for _, name := range strings.Split(*buckets, ",") {
		if err := backend.CreateBucket(context.Background(), name); err != nil {
			log.Fatal(err)
		}
	}
	faker := gofakes3.New(backend, gofakes3.WithV4Auth(map[string]string{*id: *secret}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %s\n", listener.Addr())
	log.Fatal(http.Serve(listener, faker.Server()))
}
