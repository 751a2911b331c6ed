/* An echo of UDP datagrams: the yardstick of bench/live.py. Returns the CPU seconds of the thread. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

double echo(int sock, int datagrams)
{
    char buffer[2048];
    struct sockaddr_in from;
    struct timespec begun, ended;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
    for (int k = 0; k < datagrams; k++) {
        socklen_t size = sizeof from;
        ssize_t length = recvfrom(sock, buffer, sizeof buffer, 0, (struct sockaddr *)&from, &size);
        if (length < 0)
            break;
        sendto(sock, buffer, (size_t)length, 0, (struct sockaddr *)&from, size);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    return (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
}
